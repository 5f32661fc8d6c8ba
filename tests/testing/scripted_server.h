// An HTTP/1.1 server that shows a test the whole head of each request, and its body, and answers as it is told, also
// with what is no answer: one request per connection.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/check.h"

namespace gangway::testutil {

struct ScriptedAnswer {
  int code = 200;
  std::string body = "{}";
  std::string headers = {};             // each with its line break
  std::optional<std::string> raw = {};  // these bytes and the end, instead of all that
};

class ScriptedServer {
 public:
  // `answer` is called on the server's thread.
  using Answer = std::function<ScriptedAnswer(const std::string& head)>;
  using AnswerToBody = std::function<ScriptedAnswer(const std::string& head, const std::string& body)>;
  explicit ScriptedServer(Answer answer)
      : ScriptedServer(AnswerToBody(
            [answer = std::move(answer)](const std::string& head, const std::string&) { return answer(head); })) {}
  explicit ScriptedServer(AnswerToBody answer) : answer_(std::move(answer)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    GW_CHECK(bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
    GW_CHECK(listen(listener_, 64) == 0);
    socklen_t size = sizeof(address);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Run(); });
  }
  ~ScriptedServer() {
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    close(listener_);
  }
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;

  int port() const { return port_; }
  std::string url() const { return absl::StrCat("http://127.0.0.1:", port_); }

  // "" when there is none; names in the case they were sent in.
  static std::string HeaderOf(const std::string& head, const std::string& name) {
    const std::size_t at = head.find(absl::StrCat("\r\n", name, ": "));
    if (at == std::string::npos) return "";
    const std::size_t begin = at + 4 + name.size();
    return head.substr(begin, head.find("\r\n", begin) - begin);
  }

 private:
  void Run() {
    for (;;) {
      const int fd = accept(listener_, nullptr, nullptr);
      if (fd < 0) return;
      std::string head;
      char buffer[4096];
      ssize_t count = 1;
      while (head.find("\r\n\r\n") == std::string::npos && (count = recv(fd, buffer, sizeof(buffer), 0)) > 0) {
        head.append(buffer, static_cast<std::size_t>(count));
      }
      std::string body = head.substr(std::min(head.size(), head.find("\r\n\r\n") + 4));
      head.resize(head.size() - body.size());
      std::size_t size = 0;
      if (absl::SimpleAtoi(HeaderOf(head, "Content-Length"), &size)) {
        while (body.size() < size && (count = recv(fd, buffer, sizeof(buffer), 0)) > 0)
          body.append(buffer, static_cast<std::size_t>(count));
      }
      if (count > 0) {
        const ScriptedAnswer answer = answer_(head, body);
        const std::string text =
            answer.raw.has_value()
                ? *answer.raw
                : absl::StrCat("HTTP/1.1 ", answer.code, " -\r\nConnection: close\r\n", answer.headers,
                               "Content-Length: ", answer.body.size(), "\r\n\r\n", answer.body);
        send(fd, text.data(), text.size(), MSG_NOSIGNAL);
        shutdown(fd, SHUT_WR);
        while (recv(fd, buffer, sizeof(buffer), 0) > 0) {
        }
      }
      close(fd);
    }
  }

  const AnswerToBody answer_;
  const int listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int port_ = 0;
  std::thread thread_;
};

}  // namespace gangway::testutil
