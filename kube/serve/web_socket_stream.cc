#include "kube/serve/web_socket_stream.h"

#include <poll.h>

#include <chrono>
#include <deque>
#include <utility>

#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/stream_traits.hpp>
#include <boost/beast/websocket/ssl.hpp>
#include <boost/beast/websocket/stream.hpp>

#include "kube/serve/web_socket.h"

namespace gangway::kube {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace websocket = beast::websocket;
using beast::error_code;

constexpr std::chrono::seconds kHandshakeTime{10};
// Of what is to be sent: from here down there is room again.
constexpr std::size_t kRoom = 128u << 10;

using TlsStream = asio::ssl::stream<asio::ip::tcp::socket>;

// `Layer` is a socket, or one in TLS.
template <class Layer>
class BeastStream final : public WebSocketStream, public std::enable_shared_from_this<BeastStream<Layer>> {
 public:
  BeastStream(Layer layer, UpgradeRequest request, std::shared_ptr<std::atomic<std::size_t>> unsent, Events events)
      : stream_(std::move(layer)),
        request_(std::move(request)),
        unsent_(std::move(unsent)),
        events_(std::move(events)) {}

  void Begin(absl::string_view protocol) {
    websocket::stream_base::timeout times{};
    times.handshake_timeout = kHandshakeTime;  // also of closing
    times.idle_timeout = websocket::stream_base::none();
    times.keep_alive_pings = false;  // clients send them
    stream_.set_option(times);
    stream_.set_option(
        websocket::stream_base::decorator([name = std::string(protocol)](websocket::response_type& response) {
          response.set(beast::http::field::sec_websocket_protocol, name);
        }));
    stream_.read_message_max(kMaxWebSocketMessage);
    stream_.auto_fragment(false);
    stream_.binary(true);
    stream_.async_accept(request_, [self = this->shared_from_this()](error_code error) {
      if (error) return self->Gone();
      self->open_ = true;
      self->ReadOn();
      self->WriteNext();
    });
  }

  void Send(std::string message) override {
    if (finishing_) return;
    waiting_.push_back(std::move(message));
    WriteNext();
  }

  void ReadOn() override {
    if (!open_ || reading_ || gone_) return;
    reading_ = true;
    stream_.async_read(buffer_, [self = this->shared_from_this()](error_code error, std::size_t) {
      self->reading_ = false;
      if (error || !self->stream_.got_binary()) return self->Gone();
      std::string message = beast::buffers_to_string(self->buffer_.data());
      self->buffer_.consume(self->buffer_.size());
      if (self->finishing_) return self->ReadOn();  // until the client closes, too
      if (!self->gone_) self->events_.on_message(std::move(message));
    });
  }

  void Finish() override {
    finishing_ = true;
    WriteNext();
  }

  void Close() override {
    gone_ = true;
    error_code ignored;
    beast::get_lowest_layer(stream_).close(ignored);
  }

  bool closing() override { return open_ && (!stream_.is_open() || (!reading_ && OtherHasGone())); }

 private:
  void WriteNext() {
    if (!open_ || writing_ || gone_) return;
    if (waiting_.empty()) {
      if (!finishing_) return;
      writing_ = true;
      stream_.async_close(websocket::close_code::normal,
                          [self = this->shared_from_this()](error_code) { self->Gone(); });
      return;
    }
    writing_ = true;
    stream_.async_write(asio::buffer(waiting_.front()),
                        [self = this->shared_from_this()](error_code error, std::size_t) {
                          self->writing_ = false;
                          if (error || self->gone_) return self->Gone();
                          const std::size_t size = self->waiting_.front().size();
                          self->waiting_.pop_front();
                          const std::size_t before = self->unsent_->fetch_sub(size);
                          if (before > kRoom && before - size <= kRoom) self->events_.on_room();
                          self->WriteNext();
                        });
  }

  bool OtherHasGone() {
    pollfd socket{beast::get_lowest_layer(stream_).native_handle(), POLLRDHUP, 0};
    return poll(&socket, 1, 0) > 0;
  }

  void Gone() {
    if (std::exchange(gone_, true)) return;
    events_.on_gone();
  }

  websocket::stream<Layer> stream_;
  const UpgradeRequest request_;
  const std::shared_ptr<std::atomic<std::size_t>> unsent_;
  Events events_;
  beast::flat_buffer buffer_;
  std::deque<std::string> waiting_;
  bool open_ = false, reading_ = false, writing_ = false, finishing_ = false, gone_ = false;
};

template <class Layer>
std::shared_ptr<WebSocketStream> AcceptOn(Layer layer, UpgradeRequest request, absl::string_view protocol,
                                          std::shared_ptr<std::atomic<std::size_t>> unsent,
                                          WebSocketStream::Events events) {
  auto stream =
      std::make_shared<BeastStream<Layer>>(std::move(layer), std::move(request), std::move(unsent), std::move(events));
  stream->Begin(protocol);
  return stream;
}

}  // namespace

std::shared_ptr<WebSocketStream> WebSocketStream::Accept(asio::ip::tcp::socket socket, SSL* tls, UpgradeRequest request,
                                                         absl::string_view protocol,
                                                         std::shared_ptr<std::atomic<std::size_t>> unsent,
                                                         Events events) {
  if (tls == nullptr) {
    return AcceptOn(std::move(socket), std::move(request), protocol, std::move(unsent), std::move(events));
  }
  return AcceptOn(TlsStream(std::move(socket), tls), std::move(request), protocol, std::move(unsent),
                  std::move(events));
}

}  // namespace gangway::kube
