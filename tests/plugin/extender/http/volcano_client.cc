#include "tests/plugin/extender/http/volcano_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"

namespace gangway::testutil {
namespace {

constexpr std::size_t kMaxReply = 10u << 20;
constexpr std::size_t kMaxIdle = 2;

const boost::json::value* Member(const boost::json::value& value, absl::string_view key) {
  const boost::json::object* const object = value.if_object();
  return object == nullptr ? nullptr : object->if_contains({key.data(), key.size()});
}
std::string Text(const boost::json::value& value, absl::string_view key) {
  const boost::json::value* const member = Member(value, key);
  return member == nullptr || !member->is_string() ? "" : std::string(member->as_string());
}
std::int64_t Number(const boost::json::value& value, absl::string_view key) {
  const boost::json::value* const member = Member(value, key);
  return member == nullptr || !member->is_int64() ? 0 : member->as_int64();
}
bool True(const boost::json::value& value, absl::string_view key) {
  const boost::json::value* const member = Member(value, key);
  return member != nullptr && member->is_bool() && member->as_bool();
}

}  // namespace

class VolcanoClient::Connection {
 public:
  explicit Connection(int port) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  }
  ~Connection() { close(fd_); }

  bool connected() const { return connected_; }
  bool reusable() const { return reusable_; }

  // Header and body of one answer.
  absl::StatusOr<std::string> Exchange(absl::string_view request, absl::Time deadline) {
    while (!request.empty()) {
      if (!Wait(POLLOUT, deadline)) return absl::DeadlineExceededError("timeout while sending");
      const ssize_t sent = send(fd_, request.data(), request.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent <= 0) return absl::UnavailableError("connection reset");
      request.remove_prefix(static_cast<std::size_t>(sent));
    }
    std::string got;
    std::size_t body = std::string::npos, length = std::string::npos;
    while (body == std::string::npos || got.size() < body + length) {
      if (got.size() > kMaxReply + (64u << 10)) return absl::ResourceExhaustedError("http: request body too large");
      if (!Wait(POLLIN, deadline)) return absl::DeadlineExceededError("timeout while reading");
      char some[1 << 16];
      const ssize_t count = recv(fd_, some, sizeof some, 0);
      if (count < 0) return absl::UnavailableError("connection reset");
      if (count == 0) {
        if (body == std::string::npos || length != std::string::npos) return absl::UnavailableError("unexpected EOF");
        return got;  // it ends where the connection does
      }
      got.append(some, static_cast<std::size_t>(count));
      if (body != std::string::npos || !absl::StrContains(got, "\r\n\r\n")) continue;
      body = got.find("\r\n\r\n") + 4;
      const std::size_t field = got.find("Content-Length: ");
      if (field < body) length = static_cast<std::size_t>(std::atoll(got.c_str() + field + 16));
      reusable_ = field < body && got.find("Connection: close") > body;
    }
    reusable_ = reusable_ && got.size() == body + length;
    return got;
  }

 private:
  bool Wait(short what, absl::Time deadline) const {
    pollfd ready{fd_, what, 0};
    const auto left = absl::ToInt64Milliseconds(deadline - absl::Now());
    return left > 0 && poll(&ready, 1, static_cast<int>(left)) > 0;
  }

  const int fd_;
  bool connected_ = false, reusable_ = false;
};

VolcanoClient::VolcanoClient(VolcanoClientOptions options) : options_(std::move(options)) {}
VolcanoClient::~VolcanoClient() = default;

std::unique_ptr<VolcanoClient::Connection> VolcanoClient::Take() {
  const MutexLock lock(mu_);
  ++calls_;
  if (!idle_.empty()) {
    std::unique_ptr<Connection> connection = std::move(idle_.back());
    idle_.pop_back();
    return connection;
  }
  ++connections_;
  return std::make_unique<Connection>(options_.port);
}

void VolcanoClient::Give(std::unique_ptr<Connection> connection) {
  if (!connection->reusable()) return;
  const MutexLock lock(mu_);
  if (idle_.size() < kMaxIdle) idle_.push_back(std::move(connection));
}

std::size_t VolcanoClient::calls() const {
  const MutexLock lock(mu_);
  return calls_;
}
std::size_t VolcanoClient::connections() const {
  const MutexLock lock(mu_);
  return connections_;
}

absl::StatusOr<boost::json::value> VolcanoClient::Send(absl::string_view verb, absl::string_view body) {
  const auto other = options_.elsewhere.find(std::string(verb));
  const bool ours = other == options_.elsewhere.end();
  const absl::Time deadline = absl::Now() + (ours ? options_.timeout : other->second.timeout);
  std::unique_ptr<Connection> connection = ours ? Take() : std::make_unique<Connection>(other->second.port);
  if (!connection->connected()) return absl::UnavailableError("connection refused");
  const std::string request =
      absl::StrCat("POST ", options_.prefix, "/", verb, " HTTP/1.1\r\nHost: 127.0.0.1:", options_.port,
                   "\r\nUser-Agent: Go-http-client/1.1\r\nContent-Length: ", body.size(),
                   "\r\nContent-Type: application/json\r\nAccept-Encoding: gzip\r\n\r\n", body);
  const absl::StatusOr<std::string> reply = connection->Exchange(request, deadline);
  if (!reply.ok()) return reply.status();
  if (ours) Give(std::move(connection));
  const absl::string_view text(*reply);
  const absl::string_view json = text.substr(text.find("\r\n\r\n") + 4);
  if (!absl::StartsWith(text, "HTTP/1.1 200 ")) return absl::UnknownError(absl::StrCat(text.substr(9, 3), ": ", json));
  if (json.size() > kMaxReply) return absl::ResourceExhaustedError("http: request body too large");
  if (verb == "onSessionOpen" || verb == "onSessionClose") return boost::json::value();
  boost::json::stream_parser parser;  // one value; what follows is not looked at
  boost::system::error_code error;
  parser.write_some(json.data(), json.size(), error);
  if (!error && !parser.done()) parser.finish(error);
  if (error) return absl::InvalidArgumentError(json.empty() ? "EOF" : "no JSON");
  return parser.release();
}

VolcanoClient::Fit VolcanoClient::Predicate(absl::string_view task, absl::string_view node) {
  const auto reply = Send("predicate", absl::StrCat("{\"task\":", task, ",\"node\":", node, "}"));
  if (!reply.ok()) return options_.ignorable ? Fit{} : Fit{false, 1, std::string(reply.status().message())};
  const std::string why = Text(*reply, "status");
  if (why.empty()) return {};
  const std::int64_t code = Number(*reply, "code");
  return {false, code == 0 ? 1 : code, why};
}

std::optional<std::map<std::string, double>> VolcanoClient::Prioritize(absl::string_view task,
                                                                       const std::vector<std::string>& nodes,
                                                                       std::string* error) {
  const auto reply =
      Send("prioritize", absl::StrCat("{\"task\":", task, ",\"nodes\":[", absl::StrJoin(nodes, ","), "]}"));
  const auto fail = [&](absl::string_view why) {
    if (error != nullptr) *error = std::string(why);
    return std::nullopt;
  };
  if (!reply.ok()) {
    if (!options_.ignorable) return fail(reply.status().message());
    return std::map<std::string, double>();
  }
  const boost::json::value* const scores = Member(*reply, "nodeScore");
  if (!Text(*reply, "errorMessage").empty() || scores == nullptr || !scores->is_object())
    return fail(Text(*reply, "errorMessage"));
  std::map<std::string, double> out;
  for (const auto& [name, score] : scores->as_object()) out[std::string(name)] = score.to_number<double>();
  return out;
}

std::optional<std::vector<boost::json::value>> VolcanoClient::Victims(absl::string_view verb, absl::string_view evictor,
                                                                      const std::vector<std::string>& evictees) {
  const auto reply =
      Send(verb, absl::StrCat("{\"evictor\":", evictor, ",\"evictees\":[", absl::StrJoin(evictees, ","), "]}"));
  if (!reply.ok()) return std::vector<boost::json::value>();  // whether it is ignorable or not
  if (Number(*reply, "status") == 0) return std::nullopt;
  const boost::json::value* const victims = Member(*reply, "victims");
  if (victims == nullptr || !victims->is_array()) return std::vector<boost::json::value>();
  return std::vector<boost::json::value>(victims->as_array().begin(), victims->as_array().end());
}

int VolcanoClient::JobEnqueueable(absl::string_view job) {
  const auto reply = Send("jobEnqueueable", absl::StrCat("{\"job\":", job, "}"));
  if (!reply.ok()) return options_.ignorable ? 1 : -1;
  const std::int64_t status = Number(*reply, "status");
  return status > 0 ? 1 : status < 0 ? -1 : 0;
}

void VolcanoClient::JobEnqueued(absl::string_view job) {
  Send("jobEnqueued", absl::StrCat("{\"job\":", job, "}")).IgnoreError();
}

bool VolcanoClient::JobReady(absl::string_view job) {
  const auto reply = Send("jobReady", absl::StrCat("{\"job\":", job, "}"));
  return reply.ok() ? True(*reply, "status") : !options_.ignorable;
}

bool VolcanoClient::QueueOverused(absl::string_view queue) {
  const auto reply = Send("queueOverused", absl::StrCat("{\"queue\":", queue, "}"));
  return reply.ok() ? True(*reply, "overused") : !options_.ignorable;
}

bool VolcanoClient::Event(absl::string_view verb, absl::string_view task) {
  const auto reply = Send(verb, absl::StrCat("{\"task\":", task, "}"));
  return reply.ok() ? Text(*reply, "errorMessage").empty() : options_.ignorable;
}

bool VolcanoClient::OpenSession(absl::string_view session) {
  return Send("onSessionOpen", session).ok() || options_.ignorable;
}

}  // namespace gangway::testutil
