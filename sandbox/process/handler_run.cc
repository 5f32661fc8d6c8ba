#include "sandbox/process/handler_run.h"

#include <arpa/inet.h>

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "api/duration.h"
#include "base/printable.h"

namespace gangway::sandbox {
namespace {

// pkg/kubelet/prober: maxReadLength. What is longer is read and forgotten.
constexpr std::size_t kMaxOutput = 10u << 10;
// Of a message of core/v1 Event are 1024 bytes left with what stands before.
constexpr std::size_t kMaxProbeMessage = 900;
constexpr int kMaxRedirects = 10;

// As a Go program has it.
std::string DialError(const std::string& host, int port, absl::string_view error) {
  absl::ConsumePrefix(&error, absl::StrCat("connect to ", host, ":", port, ": "));
  return absl::StrCat("dial tcp ", host, ":", port, ": connect: ", absl::AsciiStrToLower(error));
}

bool IsAddress(const std::string& host) {
  in_addr address{};
  return inet_pton(AF_INET, host.c_str(), &address) == 1;
}

std::string Asked(const HostedHandler& handler, const std::string& pod_ip) {
  if (handler.http_get) return handler.http_get->host.empty() ? pod_ip : handler.http_get->host;
  if (handler.tcp_socket) return handler.tcp_socket->host.empty() ? pod_ip : handler.tcp_socket->host;
  return pod_ip;
}

}  // namespace

HandlerRun::HandlerRun(Loop& loop, ContainerStreams& streams, HostedHandler handler, HandlerUse use, HandlerPlace place,
                       absl::Duration timeout, OnEnd on_end)
    : loop_(loop),
      streams_(streams),
      handler_(std::move(handler)),
      use_(use),
      place_(std::move(place)),
      on_end_(std::move(on_end)) {
  if (timeout < absl::InfiniteDuration()) {
    loop_.PostAt(loop_.Now() + timeout, owner_.token(), [this, timeout] {
      if (handler_.exec) absl::StrAppend(&too_late_, " timed out after ", api::FormatGoDuration(timeout));
      Finish(Answer::kFailure, too_late_);
    });
  }
  Begin();
}

void HandlerRun::Begin() {
  if (handler_.exec) return Command();
  if (handler_.sleep) {
    loop_.PostAt(loop_.Now() + absl::Seconds(handler_.sleep->seconds), owner_.token(),
                 [this] { Finish(Answer::kSuccess); });
    return;
  }
  if (handler_.grpc) {
    return Finish(Answer::kUnknown, "grpc: this sandbox does not ask that way; use exec, httpGet or tcpSocket");
  }
  if (!handler_.http_get && (!handler_.tcp_socket || hook())) return Finish(Answer::kUnknown, "invalid handler");
  const std::string host = Asked(handler_, place_.pod_ip);
  if (!IsAddress(host)) {
    return Finish(Answer::kUnknown,
                  absl::StrCat("host ", host, ": names are not looked up here; without host: the pod is asked"));
  }
  const auto port = PortOf(handler_.http_get ? handler_.http_get->port : handler_.tcp_socket->port, place_.container);
  if (!port.ok()) return Finish(Answer::kUnknown, std::string(port.status().message()));
  if (handler_.tcp_socket) return Connect(*port);
  if (!handler_.http_get->scheme.empty() && handler_.http_get->scheme != "HTTP") {
    return Finish(Answer::kUnknown, absl::StrCat("scheme ", handler_.http_get->scheme,
                                                 ": this sandbox asks by HTTP alone; use HTTP, or exec with a program "
                                                 "that speaks TLS"));
  }
  Get(TargetOf(host, *port, handler_.http_get->path));
}

void HandlerRun::Command() {
  too_late_ = absl::StrCat("command timed out: \"", absl::StrJoin(handler_.exec->command, " "), "\"");
  StreamOrder order;
  order.run = place_.run;
  order.argv = handler_.exec->command;
  StreamEvents events;
  events.on_output = [this](bool, absl::string_view bytes) {
    output_.append(bytes.data(), std::min(bytes.size(), kMaxOutput - output_.size()));
    stream_->Took(bytes.size());
  };
  events.on_room = [] {};
  events.on_end = [this](const StreamEnd& end) {
    if (!end.error.empty()) return Finish(Answer::kUnknown, end.error);
    end.exit_code == 0 ? Finish(Answer::kSuccess) : Finish(Answer::kFailure, output_);
  };
  stream_ = streams_.Open(std::move(order), std::move(events));
}

StreamOrder HandlerRun::Towards(const std::string& host, int port) const {
  StreamOrder order;
  order.pod_uid = place_.pod_uid;
  order.ip = host;
  order.port = port;
  return order;
}

void HandlerRun::Get(HttpTarget target) {
  too_late_ = absl::StrCat("Get \"", target.url(),
                           "\": context deadline exceeded (Client.Timeout exceeded while awaiting headers)");
  output_.clear();
  StreamEvents events;
  events.on_output = [this, target](bool, absl::string_view bytes) { ReadAnswer(target, bytes); };
  events.on_room = [] {};
  events.on_end = [this, target](const StreamEnd& end) {
    Finish(Answer::kFailure, absl::StrCat("Get \"", target.url(), "\": ",
                                          end.error.empty() ? "EOF" : DialError(target.host, target.port, end.error)));
  };
  stream_ = streams_.Open(Towards(target.host, target.port), std::move(events));
  stream_->Write(HttpGetRequest(target, *handler_.http_get));
}

void HandlerRun::ReadAnswer(const HttpTarget& target, absl::string_view bytes) {
  if (over_) return;
  output_.append(bytes.data(), bytes.size());
  stream_->Took(bytes.size());
  const auto answer = ReadHttpAnswer(output_);
  if (!answer.ok()) {
    return Finish(Answer::kFailure, absl::StrCat("Get \"", target.url(), "\": ", answer.status().message()));
  }
  if (!answer->has_value()) return;
  if (hook()) return Finish(Answer::kSuccess);  // pkg/kubelet/lifecycle: whatever the answer is
  const int code = (*answer)->code;
  if (code < 200 || code >= 400)
    return Finish(Answer::kFailure, absl::StrCat("HTTP probe failed with statuscode: ", code));
  if (code < 300) return Finish(Answer::kSuccess);
  auto next = RedirectOf(target, **answer);
  if (!next) return Finish(Answer::kSuccess, "Probe terminated redirects");
  if (++redirects_ > kMaxRedirects)
    return Finish(Answer::kFailure, absl::StrCat("Get \"", next->url(), "\": stopped after 10 redirects"));
  Get(*std::move(next));
}

void HandlerRun::Connect(int port) {
  const std::string host = Asked(handler_, place_.pod_ip);
  too_late_ = absl::StrCat("dial tcp ", host, ":", port, ": i/o timeout");
  StreamOrder order = Towards(host, port);
  order.connect_only = true;
  StreamEvents events;
  events.on_output = [](bool, absl::string_view) {};
  events.on_room = [] {};
  events.on_end = [this, host, port](const StreamEnd& end) {
    if (end.error.empty()) return Finish(Answer::kSuccess);
    Finish(Answer::kFailure, DialError(host, port, end.error));
  };
  stream_ = streams_.Open(std::move(order), std::move(events));
}

void HandlerRun::Finish(Answer answer, std::string message) {
  if (std::exchange(over_, true)) return;
  stream_.reset();
  message = Lines(message);
  if (message.size() > kMaxProbeMessage) {
    std::size_t end = kMaxProbeMessage;
    while ((static_cast<unsigned char>(message[end]) & 0xC0) == 0x80) --end;  // not within a code point
    message.resize(end);
  }
  loop_.Post(owner_.token(), [this, result = HandlerResult{use_, answer, std::move(message)}] {
    const OnEnd on_end = std::move(on_end_);
    on_end(result);
  });
}

}  // namespace gangway::sandbox
