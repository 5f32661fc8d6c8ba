#include "tests/cmd/dashboard/browser.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <optional>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "api/json.h"
#include "base/check.h"
#include "tests/testing/loop_thread.h"

namespace gangway::testutil {
namespace {

constexpr int kPatienceMs = 30'000;

std::string ProgramOf() {
  const char* const path = std::getenv("PATH");
  for (std::string_view rest = path == nullptr ? "" : path; !rest.empty();) {
    const std::size_t end = rest.find(':');
    const std::string program = std::string(rest.substr(0, end)) + "/chromium";
    if (access(program.c_str(), X_OK) == 0) return program;
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return "";
}

}  // namespace

bool HasBrowser() { return !ProgramOf().empty(); }

// What it reads is on descriptor 3, what it says on 4, each message ended by a zero byte.
Browser::Browser(int width, int height) : folder_("gangway-browser") {
  std::array<int, 2> in{}, out{};
  GW_CHECK(pipe2(in.data(), O_CLOEXEC) == 0 && pipe2(out.data(), O_CLOEXEC) == 0);
  const std::string program = ProgramOf(), data = absl::StrCat("--user-data-dir=", folder_.path()),
                    size = absl::StrCat("--window-size=", width, ",", height),
                    home = absl::StrCat("HOME=", folder_.path());
  const std::string path = absl::StrCat("PATH=", std::getenv("PATH"));
  std::array<const char*, 16> arguments{program.c_str(),
                                        "--headless=new",
                                        "--no-sandbox",
                                        "--disable-gpu",
                                        "--disable-dev-shm-usage",
                                        "--no-first-run",
                                        "--disable-background-networking",
                                        "--disable-component-update",
                                        "--disable-sync",
                                        "--remote-debugging-pipe",
                                        data.c_str(),
                                        size.c_str(),
                                        "about:blank",
                                        nullptr};
  std::array<const char*, 3> environment{home.c_str(), path.c_str(), nullptr};
  pid_ = fork();
  GW_CHECK(pid_ >= 0);
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0);
    const int in_copy = fcntl(in[0], F_DUPFD, 10), out_copy = fcntl(out[1], F_DUPFD, 10);
    const int null = open("/dev/null", O_RDWR);
    dup2(in_copy, 3);
    dup2(out_copy, 4);
    for (const int fd : {0, 1, 2}) dup2(null, fd);
    execve(program.c_str(), const_cast<char**>(arguments.data()), const_cast<char**>(environment.data()));
    _exit(127);
  }
  setpgid(pid_, pid_);
  close(in[0]);
  close(out[1]);
  to_ = in[1];
  from_ = out[0];
  const auto target = CallAs("", "Target.createTarget", R"({"url":"about:blank"})");
  const std::string id(api::AbslView(target.at("targetId").as_string()));
  const auto attached =
      CallAs("", "Target.attachToTarget", absl::StrCat(R"({"flatten":true,"targetId":)", api::JsonString(id), "}"));
  session_ = std::string(api::AbslView(attached.at("sessionId").as_string()));
  for (const char* domain : {"Page.enable", "Runtime.enable", "Log.enable"}) Call(domain);
}

Browser::~Browser() {
  close(to_);
  close(from_);
  kill(-pid_, SIGKILL);  // and its processes
  waitpid(pid_, nullptr, 0);
}

boost::json::value Browser::Receive() {
  while (received_.find('\0') == std::string::npos) {
    pollfd ready{from_, POLLIN, 0};
    if (poll(&ready, 1, kPatienceMs) <= 0) return {};
    std::array<char, 65536> buffer{};
    const ssize_t count = read(from_, buffer.data(), buffer.size());
    if (count <= 0) return {};
    received_.append(buffer.data(), static_cast<std::size_t>(count));
  }
  const std::size_t end = received_.find('\0');
  boost::json::value message = *api::ParseJson(received_.substr(0, end));
  received_.erase(0, end + 1);
  if (const auto* method = message.as_object().if_contains("method"); method != nullptr) {
    if (*method == "Runtime.exceptionThrown" || *method == "Log.entryAdded")
      complaints_.push_back(api::ToJson(message.at("params")));
  }
  return message;
}

boost::json::value Browser::CallAs(absl::string_view session, absl::string_view method, absl::string_view parameters) {
  const int id = ++calls_;
  std::string text =
      absl::StrCat("{\"id\":", id, ",\"method\":", api::JsonString(method), ",\"params\":", parameters,
                   session.empty() ? "" : absl::StrCat(",\"sessionId\":", api::JsonString(session)), "}");
  text.push_back('\0');
  GW_CHECK(write(to_, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  while (true) {
    const boost::json::value message = Receive();
    GW_CHECK(message.is_object());  // it is gone, or says nothing
    const auto* const answered = message.as_object().if_contains("id");
    if (answered == nullptr || *answered != id) continue;
    const auto* const result = message.as_object().if_contains("result");
    return result == nullptr ? message : *result;
  }
}

boost::json::value Browser::Call(absl::string_view method, absl::string_view parameters) {
  return CallAs(session_, method, parameters);
}

void Browser::Open(const std::string& url) {
  Call("Page.navigate", absl::StrCat(R"({"url":)", api::JsonString(url), "}"));
  Becomes("document.readyState === 'complete' && location.href !== 'about:blank'", "true");
}

std::string Browser::Evaluate(absl::string_view expression) {
  const auto result =
      Call("Runtime.evaluate", absl::StrCat(R"({"returnByValue":true,"expression":)",
                                            api::JsonString(absl::StrCat("String(", expression, ")")), "}"));
  const auto* const inner = result.as_object().if_contains("result");
  const auto* const value = inner == nullptr ? nullptr : inner->as_object().if_contains("value");
  return value == nullptr || !value->is_string() ? api::ToJson(result) : std::string(api::AbslView(value->as_string()));
}

bool Browser::Becomes(absl::string_view expression, absl::string_view text) {
  return Eventually([&] { return Evaluate(expression) == text; });
}

void Browser::Press(absl::string_view key) {
  const bool text = key.size() == 1;
  Call("Input.dispatchKeyEvent", absl::StrCat(R"({"type":"keyDown","key":)", api::JsonString(key),
                                              text ? absl::StrCat(",\"text\":", api::JsonString(key)) : "",
                                              key == "Enter" ? ",\"text\":\"\\r\"" : "", "}"));
  Call("Input.dispatchKeyEvent", absl::StrCat(R"({"type":"keyUp","key":)", api::JsonString(key), "}"));
}

std::string Browser::Picture() {
  const auto picture = Call("Page.captureScreenshot", R"({"format":"png"})");
  std::string bytes;
  GW_CHECK(absl::Base64Unescape(api::AbslView(picture.at("data").as_string()), &bytes));
  return bytes;
}

}  // namespace gangway::testutil
