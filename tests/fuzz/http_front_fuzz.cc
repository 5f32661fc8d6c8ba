// HTTP/1.1 as the front reads it: a connection of it at the other end of a socket pair, on this thread. Whatever comes
// is answered or refused, once for each request, and the answers are well formed; however the bytes are cut, the
// requests that a handler sees are the same: nobody can hide one request in another.
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/hash.h"
#include "base/simulated_loop.h"
#include "kube/serve/http_connection.h"
#include "tests/fuzz/fuzz_target.h"

namespace gangway::testutil {
namespace {

using boost::asio::ip::tcp;

constexpr std::size_t kMaxInput = 24u << 10;  // fits into a socket's buffer
constexpr std::size_t kMaxHeader = 2048, kMaxBody = 4096;

// Answers each request with itself, and remembers it.
class Echo : public kube::HttpHandler {
 public:
  std::vector<std::string> seen;

  bool IsWatch(const kube::Request& request) override { return absl::StrContains(request.query, "watch=true"); }
  void HandleRequest(kube::Request request, kube::HttpCaller caller, Respond respond) override {
    Require(request.body.size() <= kMaxBody, "a body is within its limit", request.body);
    seen.push_back(absl::StrCat(request.method, "|", request.path, "|", request.query, "|", request.content_type, "|",
                                request.accept, "|", caller.name, "|", request.body));
    kube::Response response;
    response.code = 200;
    response.content_type = request.body;  // what handlers repeat of a request can be anything
    response.warnings = {request.body};
    response.body = MakeBytes(seen.back());
    respond(std::move(response));
  }
  WatchAnswer StartWatch(kube::Request request, kube::HttpCaller, kube::Client::OnFrames,
                         kube::Client::OnEnd) override {
    seen.push_back(absl::StrCat("WATCH|", request.path));
    return {std::make_unique<kube::Watch>(), std::nullopt, "application/json"};
  }
};

struct Talk {
  std::vector<std::string> seen;
  std::string answers;
};

// One connection that is sent `bytes` in pieces of up to `most`.
class Caller {
 public:
  Caller() {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) std::abort();
    ours_ = ends[0];
    fcntl(ours_, F_SETFL, O_NONBLOCK);
    tcp::socket theirs(io_);
    theirs.assign(tcp::v4(), ends[1]);
    connection_ = std::make_shared<kube::HttpConnection>(context_, std::move(theirs), nullptr, 1);
    connection_->Start();
  }
  ~Caller() {
    if (connection_ != nullptr) connection_->Close();
    connection_.reset();
    io_.restart();
    io_.poll();
    context_.mailbox->Close();
    close(ours_);
    Require(*context_.bytes_in_flight == 0, "a connection that is gone holds no bytes", "");
    Require(unread_.bytes() == 0, "a connection that is gone leaves nothing unread", "");
  }
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;

  Talk Say(absl::string_view bytes, std::size_t most, std::uint64_t draw) {
    while (!bytes.empty() && !closed_) {
      draw = draw * 6364136223846793005u + 1442695040888963407u;
      const ssize_t sent =
          send(ours_, bytes.data(), std::min<std::size_t>(bytes.size(), 1 + (draw >> 33) % most), MSG_NOSIGNAL);
      if (sent <= 0) break;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
      Settle();
    }
    talk_.seen = std::move(echo_.seen);
    return std::move(talk_);
  }

 private:
  void Settle() {
    for (bool busy = true; busy;) {
      io_.restart();
      busy = io_.poll() > 0;
      while (loop_.Step()) busy = true;
      char buffer[4096];
      while (!closed_) {
        const ssize_t count = recv(ours_, buffer, sizeof buffer, 0);
        if (count < 0 && errno == EAGAIN) break;
        closed_ = count <= 0;
        if (count > 0) talk_.answers.append(buffer, static_cast<std::size_t>(count));
        busy = true;
      }
    }
  }
  void TakeMail() {
    for (kube::Mail& mail : context_.mailbox->Take()) {
      if (connection_ != nullptr) connection_->Receive(std::move(mail));
    }
  }
  // Its turn comes at once: there is no other.
  void ReadOn() {
    if (connection_ != nullptr && !gone_) connection_->ReadOn();
  }
  static kube::HttpFrontOptions Options() {
    kube::HttpFrontOptions options;
    options.max_header_bytes = kMaxHeader;
    options.max_body_bytes = kMaxBody;
    options.max_bytes_in_flight = 2 * kMaxBody;
    return options;
  }

  const kube::HttpFrontOptions options_ = Options();
  SimulatedLoop loop_{1};
  boost::asio::io_context io_{1};
  Echo echo_;
  kube::HttpDesk desk_{loop_, echo_, options_};
  kube::Unread unread_{options_.max_unread_bytes};
  kube::ConnectionContext context_{
      options_,
      true,
      "",
      desk_,
      std::make_shared<kube::Mailbox>([this] { boost::asio::post(io_, [this] { TakeMail(); }); }),
      std::vector<char>(8192),
      std::make_shared<std::atomic<std::size_t>>(0),
      unread_,
      [this](kube::ConnectionId) { gone_ = true; },
      []() -> kube::HttpConnection* { return nullptr; },
      [this](kube::ConnectionId) { boost::asio::post(io_, [this] { ReadOn(); }); }};
  std::shared_ptr<kube::HttpConnection> connection_;
  int ours_ = -1;
  Talk talk_;
  bool closed_ = false, gone_ = false;
};

Talk Say(absl::string_view bytes, std::size_t most, std::uint64_t draw) { return Caller().Say(bytes, most, draw); }

// The answers, one after another: heads, and bodies of the length announced. How many are of 200.
std::size_t AnswersIn(const Talk& talk) {
  std::size_t good = 0;
  for (absl::string_view rest = talk.answers; !rest.empty();) {
    const std::size_t end = rest.find("\r\n\r\n");
    int code = 0;
    Require(absl::StartsWith(rest, "HTTP/1.1 ") && end != absl::string_view::npos &&
                absl::SimpleAtoi(rest.substr(9, 3), &code),
            "an answer has a head", rest);
    const absl::string_view head = rest.substr(0, end + 4);
    Require(!absl::StrContains(head, '\0'), "no NUL stands in a head", head);
    for (std::size_t at = 0; (at = head.find('\n', at)) != absl::string_view::npos; ++at)
      Require(at > 0 && head[at - 1] == '\r', "a line of a head ends as lines do", head);
    rest.remove_prefix(head.size());
    if (code == 100) continue;
    if (code == 200) ++good;
    const std::size_t at = head.find("\r\nContent-Length: ");
    std::size_t length = 0;
    if (at == absl::string_view::npos) {  // a watch, which does not end
      Require(rest.empty(), "nothing comes behind a watch that has not ended", rest);
      return good;
    }
    Require(absl::SimpleAtoi(head.substr(at + 18, head.find('\r', at + 2) - at - 18), &length) && length <= rest.size(),
            "a body is as long as is said", head);
    Require(code == 200 || absl::StrContains(rest.substr(0, length), "\"kind\":\"Status\""), "a refusal is a Status",
            rest);
    rest.remove_prefix(length);
  }
  return good;
}

// Beast measures what it still has of a head: of one that comes in pieces a piece more is taken. Who is refused for it
// was understood alike until then.
bool SeenAlike(const Talk& whole, const Talk& cut) {
  const auto too_large = [](const Talk& talk) { return absl::StrContains(talk.answers, "HTTP/1.1 431 "); };
  if (!too_large(whole) && !too_large(cut)) return cut.seen == whole.seen;
  const std::size_t both = std::min(whole.seen.size(), cut.seen.size());
  return std::equal(whole.seen.begin(), whole.seen.begin() + static_cast<std::ptrdiff_t>(both), cut.seen.begin());
}

}  // namespace
}  // namespace gangway::testutil

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gangway::testutil;
  const absl::string_view bytes = TextOf(data, std::min(size, kMaxInput));
  const Talk whole = Say(bytes, size + 1, 0);
  if (!absl::StrContains(bytes, "HEAD "))
    Require(AnswersIn(whole) == whole.seen.size(), "each request has its answer", whole.answers);
  for (const std::size_t most : {std::size_t{1}, std::size_t{64}}) {
    if (most == 1 && bytes.size() > 2000) continue;
    const Talk cut = Say(bytes, most, gangway::StableHash(bytes));
    Require(SeenAlike(whole, cut), "the requests are the same however the bytes are cut", bytes);
  }
  if (!whole.seen.empty()) ++came_out;
  return 0;
}
