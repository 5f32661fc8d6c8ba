// The webhook at its address: who answers, and what a full house does.
#include "plugin/webhook/service.h"

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "plugin/webhook/review.h"
#include "tests/testing/loop_thread.h"
#include "tests/testing/raw_socket.h"

namespace gangway::webhook {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using testutil::Inbox;
using testutil::RawSocket;

const char* const kReview =
    R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","operation":"CREATE","namespace":"default",)"
    R"("resource":{"group":"batch.volcano.sh","version":"v1alpha1","resource":"jobs"},)"
    R"("object":{"metadata":{"name":"j"},"spec":{"tasks":[{"replicas":1,"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}}]}}}})";

std::string Post(const std::string& path, std::size_t announced, const std::string& body) {
  return absl::StrCat("POST ", path, " HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: ", announced, "\r\n\r\n", body);
}

class ServiceTest : public ::testing::Test {
 protected:
  ServiceTest() {
    const auto queue = [this](absl::string_view) {
      asked_by_.Put(std::this_thread::get_id());
      return api::volcano::QueueFacts{.state = "Open", .parent = "", .children = {}, .allocated_pods = 0};
    };
    service_ = *Service::Start({}, std::make_unique<Handler>([] { return true; }, queue, nullptr, &metrics_));
    const std::string url = service_->url();
    port_ = static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1)));
  }
  std::string Ask(const std::string& path) const {
    RawSocket client(port_);
    EXPECT_TRUE(client.Send(Post(path, std::string(kReview).size(), kReview)));
    return client.ReadAnswer();
  }

  Metrics metrics_;
  Inbox<std::thread::id> asked_by_;
  std::unique_ptr<Service> service_;
  std::uint16_t port_ = 0;
};

TEST_F(ServiceTest, AnswersOnAThreadOfItsOwn) {
  EXPECT_THAT(Ask("/mutate"), AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("\"patchType\":\"JSONPatch\"")));
  EXPECT_EQ(asked_by_.size(), 0u) << "defaults ask for no queue";
  EXPECT_THAT(Ask("/validate"), AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("\"allowed\":true")));
  EXPECT_NE(asked_by_.Take(), std::this_thread::get_id());
  EXPECT_THAT(metrics_.Expose(), HasSubstr(R"(gangway_webhook_reviews_total{code="200",page="/validate"} 1)"));
}

TEST_F(ServiceTest, BodiesThatDoNotEndKeepNobodyOut) {
  const std::size_t part = Service::kMaxBytesInFlight / 4;
  std::vector<std::unique_ptr<RawSocket>> unfinished;
  for (int i = 0; i < 12; ++i) {
    unfinished.push_back(std::make_unique<RawSocket>(port_));
    unfinished.back()->Send(Post("/validate", part + 1, std::string(part, 'x')));
  }
  EXPECT_THAT(Ask("/validate"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(unfinished.front()->ReadToEnd(), AllOf(StartsWith("HTTP/1.1 503"), HasSubstr("Retry-After: 1\r\n")));
}

TEST_F(ServiceTest, ConnectionsThatSayNothingKeepNobodyOut) {
  std::vector<std::unique_ptr<RawSocket>> silent;
  for (int i = 0; i < 2 * Service::kMaxConnections; ++i) silent.push_back(std::make_unique<RawSocket>(port_));
  EXPECT_THAT(Ask("/validate"), StartsWith("HTTP/1.1 200"));
}

TEST_F(ServiceTest, ABodyBeyondWhatAReviewMayBeIsRefusedUnread) {
  RawSocket client(port_);
  ASSERT_TRUE(client.Send(Post("/validate", ReviewLimits().max_bytes + 1, "")));
  EXPECT_THAT(client.ReadToEnd(), StartsWith("HTTP/1.1 413"));
  std::string largest = kReview;
  largest.resize(ReviewLimits().max_bytes, ' ');
  RawSocket other(port_);
  ASSERT_TRUE(other.Send(Post("/validate", largest.size(), largest)));
  EXPECT_THAT(other.ReadAnswer(), StartsWith("HTTP/1.1 200"));
}

}  // namespace
}  // namespace gangway::webhook
