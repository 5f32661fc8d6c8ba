#include "sandbox/process/handler_run.h"

#include <arpa/inet.h>

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
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

// Fit to be shown, and not longer than an event has room for.
std::string Short(absl::string_view text) {
  std::string out = Lines(text);
  if (out.size() <= kMaxProbeMessage) return out;
  std::size_t end = kMaxProbeMessage;
  while ((static_cast<unsigned char>(out[end]) & 0xC0) == 0x80) --end;  // not within a code point
  out.resize(end);
  return out;
}

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
      timeout_(timeout),
      on_end_(std::move(on_end)) {
  if (timeout_ < absl::InfiniteDuration())
    loop_.PostAt(loop_.Now() + timeout_, owner_.token(), [this] { Finish(Answer::kFailure, too_late_); });
  Begin();
}

void HandlerRun::Begin() {
  if (handler_.exec) return Command();
  if (handler_.sleep) {
    loop_.PostAt(loop_.Now() + absl::Seconds(handler_.sleep->seconds), owner_.token(),
                 [this] { Finish(Answer::kSuccess); });
    return;
  }
  if (handler_.grpc && !hook()) return Health();
  if (!handler_.http_get && (!handler_.tcp_socket || hook())) return Finish(Answer::kUnknown, "invalid handler");
  const std::string host = Asked(handler_, place_.pod_ip);
  if (!IsAddress(host)) {
    return Finish(Answer::kUnknown,
                  absl::StrCat("host ", host, ": names are not looked up here; without host: the pod is asked"));
  }
  const auto port = PortOf(handler_.http_get ? handler_.http_get->port : handler_.tcp_socket->port, place_.container);
  if (!port.ok()) return Finish(Answer::kUnknown, port.status().message());
  if (handler_.tcp_socket) return Connect(*port);
  Get(TargetOf(host, *port, handler_.http_get->path, absl::EqualsIgnoreCase(handler_.http_get->scheme, "HTTPS")));
}

void HandlerRun::Command() {
  const std::string command = absl::StrJoin(handler_.exec->command, " ");
  if (!hook()) too_late_ = absl::StrCat("command timed out: \"", command, "\" timed out after ", timeout_text());
  StreamOrder order;
  order.run = place_.run;
  order.argv = handler_.exec->command;
  StreamEvents events;
  events.on_output = [this](bool error_output, absl::string_view bytes) {
    const auto keep = [&](std::string& text) {
      text.append(bytes.data(), std::min(bytes.size(), kMaxOutput - text.size()));
    };
    keep(output_);
    if (error_output) keep(error_output_);
    stream_->Took(bytes.size());
  };
  events.on_room = [] {};
  events.on_end = [this, command](const StreamEnd& end) {
    if (!end.error.empty()) return Finish(Answer::kUnknown, end.error);
    if (end.exit_code == 0) return Finish(Answer::kSuccess);
    if (!hook()) return Finish(Answer::kFailure, output_);
    // cri-client: ExecSync
    Finish(Answer::kFailure, absl::StrCat("command '", command, "' exited with ", end.exit_code, ": ", error_output_));
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

void HandlerRun::Get(const HttpTarget& target) {
  too_late_ = absl::StrCat("Get \"", target.url(),
                           "\": context deadline exceeded (Client.Timeout exceeded while awaiting headers)");
  output_.clear();
  StreamEvents events;
  events.on_output = [this, target](bool, absl::string_view bytes) { ReadAnswer(target, bytes); };
  events.on_room = [] {};
  events.on_end = [this, target](const StreamEnd& end) {
    Refused(target, end.error.empty() ? "EOF" : DialError(target.host, target.port, end.error));
  };
  stream_ = streams_.Open(Towards(target.host, target.port), std::move(events));
  const std::string request = HttpGetRequest(target, *handler_.http_get);
  tls_.reset();
  if (!target.tls) return stream_->Write(request);
  tls_ = std::make_unique<TlsBytes>();
  tls_->Write(request);
  stream_->Write(tls_->TakeOutput());
}

void HandlerRun::Refused(const HttpTarget& target, absl::string_view why) {
  Finish(Answer::kFailure, absl::StrCat("Get \"", target.url(), "\": ", why));
}

void HandlerRun::ReadAnswer(const HttpTarget& target, absl::string_view bytes) {
  if (over_) return;
  stream_->Took(bytes.size());
  if (tls_ == nullptr) {
    output_.append(bytes.data(), bytes.size());
  } else {
    const auto plain = tls_->Take(bytes);
    if (!plain.ok() && hook() && plain.status().message() == kHttpForHttps) {
      // pkg/kubelet/lifecycle: runHTTPHandler
      warning_ = absl::StrCat("request to HTTPS lifecycle hook ", target.host, ":", target.port,
                              " got HTTP response, retry with HTTP succeeded");
      return Get({target.host, target.port, target.path});
    }
    if (!plain.ok()) return Refused(target, plain.status().message());
    stream_->Write(tls_->TakeOutput());
    output_ += *plain;
  }
  const auto answer = ReadHttpAnswer(output_);
  if (!answer.ok()) return Refused(target, answer.status().message());
  if (!answer->has_value()) return;
  if (hook()) return Finish(Answer::kSuccess, warning_);  // pkg/kubelet/lifecycle: whatever the answer is
  const int code = (*answer)->code;
  if (code < 200 || code >= 400)
    return Finish(Answer::kFailure, absl::StrCat("HTTP probe failed with statuscode: ", code));
  if (code < 300) return Finish(Answer::kSuccess);
  const auto next = RedirectOf(target, **answer);
  if (!next) return Finish(Answer::kSuccess, "Probe terminated redirects");
  if (++redirects_ > kMaxRedirects)
    return Finish(Answer::kFailure, absl::StrCat("Get \"", next->url(), "\": stopped after 10 redirects"));
  Get(*next);
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

// pkg/probe/grpc
void HandlerRun::Health() {
  const std::string address = absl::StrCat(place_.pod_ip, ":", handler_.grpc->port);
  health_.emplace(address, handler_.grpc->service, static_cast<int>(absl::ToInt64Seconds(timeout_)));
  too_late_ = absl::StrCat("timeout: failed to connect service \"", address, "\" within ", timeout_text(),
                           ": context deadline exceeded");
  StreamEvents events;
  events.on_output = [this](bool, absl::string_view bytes) { ReadHealth(bytes); };
  events.on_room = [] {};
  events.on_end = [this, address](const StreamEnd& end) {
    // A kubelet tries again until its time is over, and tells of no more than that.
    const std::string why =
        end.error.empty() ? std::string("EOF") : DialError(place_.pod_ip, handler_.grpc->port, end.error);
    Finish(Answer::kFailure,
           health_->connected()
               ? HealthComplaint({kGrpcUnavailable, absl::StrCat("error reading from server: ", why)}, timeout_text())
               : absl::StrCat("error: failed to connect service at \"", address, "\": ", why));
  };
  stream_ = streams_.Open(Towards(place_.pod_ip, handler_.grpc->port), std::move(events));
  stream_->Write(health_->TakeOutput());
}

void HandlerRun::ReadHealth(absl::string_view bytes) {
  if (over_) return;
  stream_->Took(bytes.size());
  const auto answer = health_->Take(bytes);
  if (!answer.ok()) {
    return Finish(Answer::kFailure, absl::StrCat("error: failed to connect service at \"", place_.pod_ip, ":",
                                                 handler_.grpc->port, "\": ", answer.status().message()));
  }
  if (!answer->has_value()) {
    if (health_->connected()) too_late_ = HealthComplaint({kGrpcDeadlineExceeded, ""}, timeout_text());
    return stream_->Write(health_->TakeOutput());
  }
  const std::string complaint = HealthComplaint(**answer, timeout_text());
  const bool healthy = complaint.empty();
  Finish(healthy ? Answer::kSuccess : Answer::kFailure, complaint);
}

std::string HandlerRun::timeout_text() const { return api::FormatGoDuration(timeout_); }

void HandlerRun::Finish(Answer answer, absl::string_view message) {
  if (std::exchange(over_, true)) return;
  HandlerResult result{use_, answer, Short(message)};
  stream_.reset();  // which may have brought the message
  if (hook() && handler_.exec && answer != Answer::kSuccess) result.output = Short(output_);
  loop_.Post(owner_.token(), [this, result = std::move(result)] {
    const OnEnd on_end = std::move(on_end_);
    on_end(result);
  });
}

}  // namespace gangway::sandbox
