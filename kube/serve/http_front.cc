#include "kube/serve/http_front.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "kube/serve/http_connection.h"
#include "kube/serve/http_desk.h"
#include "kube/serve/http_stream.h"
#include "kube/serve/http_wire.h"
#include "kube/serve/unread.h"

namespace gangway::kube {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

constexpr std::size_t kScratchBytes = 64u << 10;
constexpr int kMaxRefusing = 64;  // connections that are being told 503; beyond, closed without a word
constexpr std::chrono::milliseconds kShutdownTime{2000};
constexpr std::chrono::milliseconds kAcceptPause{50};
// Of those that come at once: whoever is there already waits for so many to be let in, and no more.
constexpr int kMaxArriving = 16;
constexpr std::chrono::milliseconds kArrivalPause{1};
// Of connections whose requests come in small pieces: so many are read at a time.
constexpr std::size_t kMaxInTurn = 4;
constexpr std::chrono::milliseconds kTurn{1};

std::string HostPort(const asio::ip::address& address, std::uint16_t port) {
  return address.is_v6() ? absl::StrCat("[", address.to_string(), "]:", port)
                         : absl::StrCat(address.to_string(), ":", port);
}

// How often deadlines are looked at: often enough to be late by a quarter of the shortest.
std::chrono::milliseconds SweepInterval(const HttpFrontOptions& o) {
  const absl::Duration shortest = std::min({o.header_timeout, o.body_timeout, o.idle_timeout, o.write_timeout});
  return std::clamp(absl::ToChronoMilliseconds(shortest / 4), std::chrono::milliseconds(5),
                    std::chrono::milliseconds(500));
}

// Signals are the main thread's business; and OpenSSL writes to a socket whose other end may be gone.
void BlockSignals() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

// Of connections, and of the bodies they hold.
struct Counts {
  std::atomic<int> serving = 0;
  std::atomic<int> refusing = 0;
  std::atomic<int> arriving = 0;  // on their way to their thread
  std::shared_ptr<std::atomic<std::size_t>> bytes_in_flight = std::make_shared<std::atomic<std::size_t>>(0);
};

// One thread and its connections. After the constructor everything runs on that thread, but for Adopt and Stop.
class IoThread {
 public:
  IoThread(const HttpFrontOptions& options, bool loopback_only, HttpDesk& desk, Counts& counts, Unread& unread)
      : io_(std::make_shared<asio::io_context>(1)),
        counts_(counts),
        sweep_interval_(SweepInterval(options)),
        sweep_(*io_),
        turn_(*io_),
        context_{options,
                 loopback_only,
                 HeaderLines(options.headers),
                 desk,
                 MakeMailbox(),
                 std::vector<char>(kScratchBytes),
                 counts.bytes_in_flight,
                 unread,
                 [this](ConnectionId id) { Forget(id); },
                 [this] { return Slowest(); },
                 [this](ConnectionId id) { InTurn(id); }} {
    Sweep();
    thread_ = std::thread([this] {
      BlockSignals();
      io_->run();
    });
  }
  ~IoThread() {
    asio::post(*io_, [this] { Shutdown(); });
    thread_.join();
    context_.mailbox->Close();
    io_->restart();
    io_->poll();  // what was cancelled lets go of its connection
  }

  asio::io_context& io() { return *io_; }

  // `one_too_many`: it is counted among the refused, and served when another makes room for it.
  void Adopt(tcp::socket socket, std::shared_ptr<SSL_CTX> tls, ConnectionId id, bool one_too_many) {
    asio::post(*io_, [this, socket = std::move(socket), tls = std::move(tls), id, one_too_many]() mutable {
      counts_.arriving.fetch_sub(1);
      const bool refuse = one_too_many && (stopping_ || !MakeRoom());
      auto connection = std::make_shared<HttpConnection>(context_, std::move(socket), tls, id);
      connections_[id] = connection;
      if (refuse) return connection->Refuse(!stopping_ && counts_.refusing.load() <= kMaxRefusing);
      stopping_ ? connection->Close() : connection->Start();
    });
  }

 private:
  // The box outlives this thread in late answers; a context that has stopped runs nothing any more.
  std::shared_ptr<Mailbox> MakeMailbox() {
    return std::make_shared<Mailbox>([this, io = io_] { asio::post(*io, [this] { TakeMail(); }); });
  }

  // Of those that hold a part of a body, the one that came, or was answered, before all others; null.
  HttpConnection* Slowest() const {
    HttpConnection* slowest = nullptr;
    for (const auto& [id, connection] : connections_) {
      if (connection->holds_part() && (slowest == nullptr || connection->since() < slowest->since()))
        slowest = connection.get();
    }
    return slowest;
  }

  // Closes the connection that has waited longest for its client to send, or else to take its answer. False: none does.
  bool MakeRoom() {
    if (!context_.options.replace_idle) return false;
    HttpConnection* first = nullptr;
    const auto key = [](const HttpConnection& c) { return std::pair(c.stays(), c.since()); };
    for (const auto& [id, connection] : connections_) {
      if (first == nullptr || key(*connection) < key(*first)) first = connection.get();
    }
    if (first == nullptr || first->stays() == HttpConnection::Stays::kWorks) return false;
    counts_.serving.fetch_add(1);
    counts_.refusing.fetch_sub(1);
    first->Close();
    return true;
  }

  void InTurn(ConnectionId id) {
    in_turn_.push_back(id);
    if (in_turn_.size() == 1) NextTurn();
  }
  void NextTurn() {
    turn_.expires_after(kTurn);
    turn_.async_wait([this](error_code error) {
      if (error) return;
      for (std::size_t i = 0; i < kMaxInTurn && !in_turn_.empty(); ++i) {
        const auto found = connections_.find(in_turn_.front());
        in_turn_.pop_front();
        if (found != connections_.end()) found->second->ReadOn();
      }
      if (!in_turn_.empty()) NextTurn();
    });
  }

  void TakeMail() {
    std::vector<Mail> mails = context_.mailbox->Take();
    for (Mail& mail : mails) {
      const auto found = connections_.find(mail.to);
      if (found == connections_.end()) {
        if (mail.what == Mail::What::kBeginWatch || mail.what == Mail::What::kUpgrade) context_.desk.Gone(mail.to);
        continue;
      }
      const std::shared_ptr<HttpConnection> connection = found->second;
      connection->Receive(std::move(mail));
    }
  }

  void Sweep() {
    sweep_.expires_after(sweep_interval_);
    sweep_.async_wait([this](error_code error) {
      if (error) return;
      const auto now = HttpConnection::SteadyTime::clock::now();
      for (const auto& connection : All()) connection->CheckDeadline(now);
      Sweep();
    });
  }

  void Forget(ConnectionId id) {
    const auto found = connections_.find(id);
    (found->second->refused() ? counts_.refusing : counts_.serving).fetch_sub(1);
    connections_.erase(found);
    if (stopping_ && connections_.empty()) io_->stop();
  }

  void Shutdown() {
    stopping_ = true;
    TakeMail();
    for (const auto& connection : All()) connection->Shutdown();
    if (connections_.empty()) return io_->stop();
    sweep_.expires_after(kShutdownTime);
    sweep_.async_wait([this](error_code) {
      for (const auto& connection : All()) connection->Close();
      io_->stop();
    });
  }

  // A copy: connections leave while we walk.
  std::vector<std::shared_ptr<HttpConnection>> All() const {
    std::vector<std::shared_ptr<HttpConnection>> all;
    all.reserve(connections_.size());
    for (const auto& [id, connection] : connections_) all.push_back(connection);
    return all;
  }

  const std::shared_ptr<asio::io_context> io_;
  Counts& counts_;
  const std::chrono::milliseconds sweep_interval_;
  asio::steady_timer sweep_, turn_;
  ConnectionContext context_;
  absl::flat_hash_map<ConnectionId, std::shared_ptr<HttpConnection>> connections_;
  std::deque<ConnectionId> in_turn_;  // whose requests come in small pieces
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace

class HttpFront::Impl {
 public:
  Impl(Loop& loop, HttpHandler& handler, HttpFrontOptions options)
      : options_(std::move(options)), desk_(loop, handler, options_), pause_(accept_io_), acceptor_(accept_io_) {}

  ~Impl() {
    asio::post(accept_io_, [this] {  // ends the thread: nothing is left to wait for
      error_code ignored;
      acceptor_.close(ignored);
      pause_.cancel();
    });
    if (accept_thread_.joinable()) accept_thread_.join();
    threads_.clear();
  }

  absl::Status Listen() {
    error_code error;
    if (options_.listener >= 0) {
      acceptor_.assign(tcp::v4(), options_.listener, error);
      if (error) {
        close(options_.listener);
        return absl::InvalidArgumentError(absl::StrCat("a socket to listen on: ", error.message()));
      }
    }
    if (!options_.tls_certificate_file.empty() || !options_.tls_key_file.empty()) {
      GW_ASSIGN_OR_RETURN(
          tls_, TlsIdentity::Load(options_.tls_certificate_file, options_.tls_key_file, options_.tls_client_ca));
    }
    if (!acceptor_.is_open()) GW_RETURN_IF_ERROR(Bind());
    const tcp::endpoint here = acceptor_.local_endpoint(error);
    if (error) return absl::InvalidArgumentError(absl::StrCat("a socket to listen on: ", error.message()));
    const asio::ip::address address = here.address();
    port_ = here.port();
    const asio::ip::address reached = !address.is_unspecified() ? address
                                      : address.is_v4()         ? asio::ip::address(asio::ip::address_v4::loopback())
                                                                : asio::ip::address_v6::loopback();
    url_ = absl::StrCat(tls_ != nullptr ? "https://" : "http://", HostPort(reached, port_));
    for (int i = 0; i < std::max(1, options_.io_threads); ++i) {
      threads_.push_back(std::make_unique<IoThread>(options_, address.is_loopback(), desk_, counts_, unread_));
    }
    Accept();
    accept_thread_ = std::thread([this] {
      BlockSignals();
      accept_io_.run();
    });
    return absl::OkStatus();
  }

  std::uint16_t port() const { return port_; }
  const std::string& url() const { return url_; }
  int connections() const { return counts_.serving.load(); }

 private:
  absl::Status Bind() {
    error_code error;
    const asio::ip::address address = asio::ip::make_address(options_.address, error);
    if (error)
      return absl::InvalidArgumentError(absl::StrCat("\"", options_.address, "\" is no IP address to listen on"));
    const tcp::endpoint here(address, options_.port);
    acceptor_.open(here.protocol(), error);
    if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor_.bind(here, error);
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (!error) return absl::OkStatus();
    return absl::UnavailableError(
        absl::StrCat("cannot listen on ", HostPort(address, options_.port), ": ", error.message()));
  }

  void Accept() {
    if (counts_.arriving.load() >= kMaxArriving) return Later(kArrivalPause);  // the rest waits in the kernel
    IoThread& thread = *threads_[next_id_ % threads_.size()];
    acceptor_.async_accept(thread.io(), [this, &thread](error_code error, tcp::socket socket) {
      if (error == asio::error::operation_aborted || !acceptor_.is_open()) return;
      if (error) return Pause(error);
      const ConnectionId id = next_id_++;
      const bool one_too_many =
          counts_.serving.load() >= options_.max_connections;  // only this thread raises the sum of the two
      if (!one_too_many || options_.replace_idle || counts_.refusing.load() < kMaxRefusing) {
        (one_too_many ? counts_.refusing : counts_.serving).fetch_add(1);
        counts_.arriving.fetch_add(1);
        thread.Adopt(std::move(socket), Tls(), id, one_too_many);
      }
      Accept();
    });
  }

  std::shared_ptr<SSL_CTX> Tls() { return tls_ == nullptr ? nullptr : tls_->Current(); }

  // Out of descriptors, most likely: a moment later some may be free.
  void Pause(error_code error) {
    log::Warning("cannot accept a connection", {{"error", error.message()}});
    Later(kAcceptPause);
  }

  void Later(std::chrono::milliseconds pause) {
    pause_.expires_after(pause);
    pause_.async_wait([this](error_code stopped) {
      if (!stopped) Accept();
    });
  }

  const HttpFrontOptions options_;
  HttpDesk desk_;
  Counts counts_;
  Unread unread_{options_.max_unread_bytes};
  std::vector<std::unique_ptr<IoThread>> threads_;

  asio::io_context accept_io_{1};
  asio::steady_timer pause_;
  tcp::acceptor acceptor_;
  std::unique_ptr<TlsIdentity> tls_;  // null: plain
  std::uint16_t port_ = 0;
  std::string url_;
  ConnectionId next_id_ = 1;
  std::thread accept_thread_;
};

absl::StatusOr<std::unique_ptr<HttpFront>> HttpFront::Start(Loop& loop, HttpHandler& handler,
                                                            HttpFrontOptions options) {
  auto impl = std::make_unique<Impl>(loop, handler, std::move(options));
  if (absl::Status listening = impl->Listen(); !listening.ok()) return listening;
  return std::unique_ptr<HttpFront>(new HttpFront(std::move(impl)));
}

HttpFront::HttpFront(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpFront::~HttpFront() = default;
std::uint16_t HttpFront::port() const { return impl_->port(); }
std::string HttpFront::url() const { return impl_->url(); }
int HttpFront::connections() const { return impl_->connections(); }

}  // namespace gangway::kube
