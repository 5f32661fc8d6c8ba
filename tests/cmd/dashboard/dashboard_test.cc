// The dashboard behind its front: what it asks of an API server, whom it answers, and what open pages are sent.
#include "cmd/dashboard/dashboard.h"

#include <memory>
#include <optional>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "cmd/dashboard/dashboard_server.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/fake_client.h"
#include "tests/testing/loop_thread.h"
#include "tests/testing/raw_socket.h"
#include "tests/testing/status_matchers.h"

namespace gangway::cmd {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using testutil::RawSocket;

constexpr char kQueue[] =
    R"({"metadata":{"name":"%","uid":"%","resourceVersion":"7"},"spec":{"weight":1},"status":{"state":"Open"}})";

std::string QueueNamed(const std::string& name) { return absl::StrReplaceAll(kQueue, {{"%", name}}); }

class DashboardTest : public ::testing::Test {
 protected:
  DashboardTest() : client_(thread_.loop()) {
    client_.SetHandler([this](const kube::Request& request) -> std::optional<absl::StatusOr<kube::Response>> {
      if (absl::EndsWith(request.path, "/nodes") && nodes_forbidden_)
        return testutil::Refusal(403, "Forbidden", "nodes");
      return testutil::Reply(200, absl::StrCat(R"({"metadata":{"resourceVersion":"5"},"items":[)",
                                               absl::EndsWith(request.path, "/queues") ? QueueNamed("ads") : "", "]}"));
    });
  }
  ~DashboardTest() override {
    thread_.Run([this] { server_.reset(); });
  }
  void Serve() {
    server_ = thread_.Run([this] {
      return *DashboardServer::Start(thread_.loop(), client_, "--listen", "127.0.0.1:0", {"https://cluster", {}});
    });
    const std::string url = server_->url();
    port_ = static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1)));
  }
  std::string Ask(const std::string& path, const std::string& headers = "", const std::string& method = "GET",
                  bool has_body = true) const {
    RawSocket client(port_);
    EXPECT_TRUE(
        client.Send(absl::StrCat(method, " ", path, " HTTP/1.1\r\n",
                                 absl::StrContains(headers, "Host:") ? "" : "Host: 127.0.0.1\r\n", headers, "\r\n")));
    return client.ReadAnswer(has_body);
  }
  std::string PageWith(const std::string& text, const std::string& path = "/") {
    std::string page;
    EXPECT_TRUE(testutil::Eventually([&] {
      page = Ask(path);
      return absl::StrContains(page, text);
    })) << page;
    return page;
  }
  // The one whose request goes to that plural.
  std::size_t WatchOf(const std::string& plural) {
    std::size_t found = 99;
    EXPECT_TRUE(testutil::Eventually([&] {
      return thread_.Run([&] {
        for (std::size_t i = 0; i < client_.watches(); ++i) {
          if (absl::EndsWith(client_.watch_request(i).path, absl::StrCat("/", plural))) found = i;
        }
        return found != 99;
      });
    })) << plural;
    return found;
  }
  static std::string VersionOf(const std::string& page) {
    const std::size_t at = page.find("data-version=\"") + 14;
    return page.substr(at, page.find('"', at) - at);
  }
  void Push(const std::string& queue, kube::FrameType type = kube::FrameType::kAdded) {
    const std::size_t watch = WatchOf("queues");
    thread_.Run([&] { client_.Push(watch, type, QueueNamed(queue)); });
  }

  testutil::LoopThread thread_;
  testutil::FakeClient client_;
  std::unique_ptr<DashboardServer> server_;
  std::uint16_t port_ = 0;
  bool nodes_forbidden_ = false;
};

TEST_F(DashboardTest, ThePageSaysWhatABrowserMayDoWithIt) {
  Serve();
  const std::string page = PageWith("q:ads");
  EXPECT_THAT(page, AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("Content-Type: text/html; charset=utf-8\r\n"),
                          HasSubstr("Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'"),
                          HasSubstr("frame-ancestors 'none'"), HasSubstr("X-Content-Type-Options: nosniff\r\n"),
                          HasSubstr("Referrer-Policy: no-referrer\r\n"), HasSubstr("https://cluster")));
  EXPECT_THAT(Ask("/dashboard.js"),
              AllOf(HasSubstr("text/javascript"), HasSubstr("EventSource"), HasSubstr("nosniff")));
  EXPECT_THAT(Ask("/dashboard.css"), HasSubstr("prefers-color-scheme: dark"));
  EXPECT_THAT(Ask("/none"), AllOf(StartsWith("HTTP/1.1 404"), HasSubstr("nosniff")));
  EXPECT_THAT(Ask("/", "Accept-Language: zh-CN,zh;q=0.9\r\n"), HasSubstr("<html lang=\"zh\">"));
  EXPECT_THAT(Ask("/?lang=en", "Accept-Language: zh-CN\r\n"), HasSubstr("<html lang=\"en\">"));
  EXPECT_THAT(Ask("/?q=a%64s"), HasSubstr("value=\"ads\""));
  EXPECT_THAT(Ask("/?q=%3Cb%3E%zz"), HasSubstr("value=\"\"")) << "a broken query is none";
}

TEST_F(DashboardTest, IsOnlyRead) {
  Serve();
  EXPECT_THAT(Ask("/", "", "HEAD", false), AllOf(StartsWith("HTTP/1.1 200"), EndsWith("\r\n\r\n")));
  for (const char* method : {"POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"}) {
    EXPECT_THAT(Ask("/", "", method), AllOf(StartsWith("HTTP/1.1 405"), HasSubstr("Allow: GET, HEAD\r\n"))) << method;
  }
  EXPECT_THAT(Ask("/", "Content-Length: 5\r\n"), StartsWith("HTTP/1.1 413"));
}

TEST_F(DashboardTest, PagesFromElsewhereDoNotReachIt) {
  Serve();
  EXPECT_THAT(Ask("/", "Host: rebound.example.com\r\n"), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(Ask("/", "Host: localhost.example.com:80\r\n"), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(Ask("/", "Host: LOCALHOST:9080\r\n"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(Ask("/events", "Origin: https://example.com\r\n"), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(Ask("/"), Not(HasSubstr("Access-Control-Allow-Origin")));
}

TEST_F(DashboardTest, AnOpenPageIsSentWhatChanges) {
  Serve();
  const std::string version = VersionOf(PageWith("q:ads"));
  RawSocket page(port_);
  ASSERT_TRUE(page.Send(absl::StrCat("GET /events?lang=en&from=", version, " HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")));
  ASSERT_TRUE(page.ReadUntil("\r\n\r\n"));
  Push("nlp");
  ASSERT_TRUE(page.ReadUntil("\"id\":\"q:nlp\",\"after\":\"q:ads\",\"html\":\"<tr"));
  Push("nlp", kube::FrameType::kDeleted);
  EXPECT_TRUE(page.ReadUntil("\"gone\":[\"q:nlp\"]}\n\n"));
  RawSocket late(port_);  // from the first page on
  ASSERT_TRUE(late.Send(absl::StrCat("GET /events?lang=en&from=", version, " HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")));
  EXPECT_TRUE(late.ReadUntil("event: change"));
  RawSocket other(port_);  // of a server that is gone
  ASSERT_TRUE(other.Send("GET /events?lang=en&from=abc.1 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"));
  EXPECT_TRUE(other.ReadUntil("event: anew"));
}

TEST_F(DashboardTest, ReadsNothingUntilSomebodyLooksAndThenOnlyWhatItShows) {
  Serve();
  EXPECT_TRUE(thread_.Run([&] { return client_.lines(); }).empty());
  PageWith("q:ads");
  WatchOf("pods");
  const std::vector<std::string> lines = thread_.Run([&] { return client_.lines(); });
  EXPECT_THAT(lines, Each(AllOf(StartsWith("GET "), Not(HasSubstr("secrets")), Not(HasSubstr("configmaps")))));
  EXPECT_EQ(lines.size(), 8u);
}

TEST_F(DashboardTest, WhatMayNotBeReadIsSaid) {
  nodes_forbidden_ = true;
  Serve();
  PageWith("q:ads");  // in whatever order they are answered
  EXPECT_THAT(PageWith("Not seen: "), AllOf(HasSubstr("nodes"), HasSubstr("q:ads")));
}

TEST(DashboardServerTest, ListensOnLoopbackOnlyAndSaysWhy) {
  testutil::LoopThread thread;
  testutil::FakeClient client(thread.loop());
  const auto start = [&](const std::string& listen) {
    return thread.Run([&] {
      auto server = DashboardServer::Start(thread.loop(), client, "--listen", listen, {});
      return server.ok() ? (*server)->url() : std::string(server.status().message());
    });
  };
  EXPECT_THAT(start("0.0.0.0:0"), AllOf(StartsWith("--listen 0.0.0.0:0: "), HasSubstr("ssh -L")));
  EXPECT_THAT(start("here"), HasSubstr("write HOST:PORT"));
  EXPECT_THAT(start("localhost:0"), StartsWith("http://127.0.0.1:"));
}

}  // namespace
}  // namespace gangway::cmd
