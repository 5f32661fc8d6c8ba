// The front of metrics and probes, and who wants to keep probes from it.
#include "kube/serve/pages.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/loop_thread.h"
#include "tests/testing/raw_socket.h"

namespace gangway::kube {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using testutil::RawSocket;

class PagesTest : public ::testing::Test {
 protected:
  PagesTest() {
    metrics_.AddGauge("gangway_test", "of a test").Set(3);
    const auto alive = [](HttpHandler::Respond respond) { respond(TextPage(200, "ok")); };
    front_ =
        thread_.Run([&] { return *PageFront::Start(thread_.loop(), {MetricsPage(metrics_), {"/healthz", alive}}); });
    const std::string url = front_->url();
    port_ = static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1)));
  }
  ~PagesTest() override {
    thread_.Run([this] { front_.reset(); });
  }
  static std::string Head(const std::string& path, const std::string& headers = "", const std::string& method = "GET") {
    return absl::StrCat(method, " ", path, " HTTP/1.1\r\nHost: 127.0.0.1\r\n", headers, "\r\n");
  }
  std::string Ask(const std::string& request) const {
    RawSocket client(port_);
    EXPECT_TRUE(client.Send(request));
    return client.ReadAnswer();
  }

  Metrics metrics_;
  testutil::LoopThread thread_;
  std::unique_ptr<PageFront> front_;
  std::uint16_t port_ = 0;
};

TEST_F(PagesTest, EachPathHasItsPage) {
  EXPECT_THAT(Ask(Head("/metrics")),
              AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("text/plain; version=0.0.4"), HasSubstr("gangway_test 3")));
  EXPECT_THAT(Ask(Head("/healthz")), AllOf(StartsWith("HTTP/1.1 200"), EndsWith("ok\n")));
  EXPECT_THAT(Ask(Head("/")),
              AllOf(StartsWith("HTTP/1.1 404"), EndsWith("there is no page /; served are /metrics, /healthz\n")));
  EXPECT_THAT(Ask(Head("/healthz", "Content-Length: 0\r\n", "POST")), StartsWith("HTTP/1.1 405"));
}

TEST_F(PagesTest, NoBodyIsTakenAndNoLongHeader) {
  EXPECT_THAT(Ask(Head("/metrics", "Content-Length: 1\r\n")), StartsWith("HTTP/1.1 413"));
  EXPECT_THAT(Ask(Head("/metrics", "Transfer-Encoding: chunked\r\n") + "1\r\nx\r\n"), StartsWith("HTTP/1.1 413"));
  EXPECT_THAT(Ask(Head("/metrics", absl::StrCat("A: ", std::string(9 << 10, 'a'), "\r\n"))),
              StartsWith("HTTP/1.1 431"));
}

TEST_F(PagesTest, AProbeIsAnsweredWhoeverElseIsConnected) {
  std::vector<std::unique_ptr<RawSocket>> others;
  for (int i = 0; i < 3 * PageFront::kMaxConnections; ++i) {
    others.push_back(std::make_unique<RawSocket>(port_));
    if (i % 3 == 1) others.back()->Send("GET /metrics HTTP/1.1\r\nHost: 127");
    if (i % 3 == 2) others.back()->Send(Head("/metrics"));
  }
  EXPECT_THAT(Ask(Head("/healthz")), AllOf(StartsWith("HTTP/1.1 200"), EndsWith("ok\n")));
}

}  // namespace
}  // namespace gangway::kube
