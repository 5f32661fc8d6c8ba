// What `kubectl port-forward` and `kubectl exec` send, as lines: an input that is damaged then still has headers that
// can be decompressed. Frames are the same however their bytes are cut; a container hears what was sent to its stream
// and nothing else; what goes back is whole frames, on streams that were accepted and are not over.
//
//   open ID NAME=VALUE ...     a stream with these headers
//   data ID TEXT, fin ID TEXT  bytes of a stream; fin: the last ones
//   reset ID, ping ID, goaway
//   raw TEXT                   bytes of no frame
//   exec CHANNEL TEXT          a message of another session, which is a command's; channel 255 is the one that closes
//   says N TEXT, ends N TEXT   what the N-th container does; 0 is the command
#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/check.h"
#include "base/hash.h"
#include "base/log.h"
#include "sandbox/streams/exec_session.h"
#include "sandbox/streams/port_forward_session.h"
#include "sandbox/streams/remote_command.h"
#include "sandbox/streams/spdy.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/sandbox/streams/spdy_client.h"

namespace gangway::testutil {
namespace {

using sandbox::ContainerStream;
using sandbox::SpdyFrame;
using sandbox::SpdyReader;
using sandbox::StreamEvents;

constexpr std::size_t kMaxLines = 400;

struct Line {
  std::string verb;
  std::uint32_t id = 0;
  std::string text;
};

Line Parse(absl::string_view line) {
  Line out;
  const std::pair<absl::string_view, absl::string_view> verb = absl::StrSplit(line, absl::MaxSplits(' ', 1));
  out.verb = std::string(verb.first);
  if (out.verb == "raw") {
    out.text = std::string(verb.second);
    return out;
  }
  const std::pair<absl::string_view, absl::string_view> id = absl::StrSplit(verb.second, absl::MaxSplits(' ', 1));
  if (!absl::SimpleAtoi(id.first, &out.id)) out.id = 0;
  out.id &= 0x7fffffff;
  out.text = std::string(id.second);
  return out;
}

std::vector<std::pair<std::string, std::string>> HeadersOf(const Line& line) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const absl::string_view word : absl::StrSplit(line.text, ' ', absl::SkipEmpty()))
    out.emplace_back(absl::StrSplit(word, absl::MaxSplits('=', 1)));
  return out;
}
// The last of that name.
std::string HeaderOf(const Line& line, absl::string_view name) {
  std::string out;
  for (const auto& [key, value] : HeadersOf(line)) {
    if (absl::AsciiStrToLower(key) == name) out = value;
  }
  return out;
}
// Whose streams belong together, as the session says.
std::string RequestOf(const Line& line) {
  const std::string request = HeaderOf(line, "requestid");
  return !request.empty() ? request : absl::StrCat(HeaderOf(line, "streamtype") == "error" ? line.id : line.id - 2);
}

// "" of a line that sends nothing to the port-forward.
std::string BytesOf(const Line& line, SpdyClient& client) {
  if (line.verb == "open") return client.Open(line.id, HeadersOf(line));
  if (line.verb == "data" || line.verb == "fin") return SpdyClient::Data(line.id, line.text, line.verb == "fin");
  if (line.verb == "reset") return SpdyClient::Control(3, SpdyClient::Word(line.id) + SpdyClient::Word(5));
  if (line.verb == "ping") return SpdyClient::Control(6, SpdyClient::Word(line.id));
  if (line.verb == "goaway") return SpdyClient::Control(7, SpdyClient::Word(line.id) + SpdyClient::Word(0));
  return line.verb == "raw" ? line.text : std::string();
}

// ---- the frames, however they are cut

struct Frames {
  bool ok = true;
  std::vector<std::string> all;  // data that follows data of its stream joined
};

Frames Read(absl::string_view bytes, std::size_t most, std::uint64_t draw) {
  Frames out;
  SpdyReader reader;
  std::uint32_t goes_on = 0;
  while (!bytes.empty() && out.ok) {
    draw = draw * 6364136223846793005u + 1442695040888963407u;
    const std::size_t size = std::min<std::size_t>(bytes.size(), 1 + (draw >> 33) % most);
    std::vector<SpdyFrame> frames;
    out.ok = reader.Read(bytes.substr(0, size), frames).ok();
    bytes.remove_prefix(size);
    for (const SpdyFrame& frame : frames) {
      const bool data = frame.kind == SpdyFrame::Kind::kData;
      Require(frame.headers.size() <= SpdyReader::kMaxHeaders, "headers are no more than may be", bytes);
      if (data && goes_on == frame.id && !out.all.empty()) {
        absl::StrAppend(&out.all.back(), frame.data, frame.fin ? "|fin" : "");
      } else {
        std::string text = absl::StrCat(static_cast<int>(frame.kind), "|", frame.id, "|", frame.data);
        for (const auto& [name, value] : frame.headers) absl::StrAppend(&text, "|", name, "=", value);
        out.all.push_back(absl::StrCat(text, frame.fin ? "|fin" : ""));
      }
      goes_on = data && !frame.fin ? frame.id : 0;
    }
  }
  return out;
}

void TryFrames(const std::vector<Line>& lines) {
  SpdyClient client;
  std::string bytes;
  for (const Line& line : lines) bytes += BytesOf(line, client);
  const Frames whole = Read(bytes, bytes.size() + 1, 0);
  const auto same = [&](const Frames& other) { return other.ok == whole.ok && other.all == whole.all; };
  Require(same(Read(bytes, 1, 0)), "frames are the same byte by byte", bytes);
  Require(same(Read(bytes, 40, StableHash(bytes))), "frames are the same however they are cut", bytes);
  came_out += whole.all.size();
}

// ---- the sessions

struct Socket final : kube::WebSocket {
  void Send(std::string message) override {
    Require(!closed, "after the end nothing is sent", message);
    sent.push_back(std::move(message));
  }
  std::size_t unsent() const override { return 0; }
  void Close() override { closed = true; }
  void ReadOn() override {}
  std::vector<std::string> sent;
  bool closed = false;
};

struct Container {
  StreamEvents events;
  std::string heard, expected;
  bool input_ended = false, gone = false;
};

class Stream final : public ContainerStream {
 public:
  explicit Stream(std::shared_ptr<Container> of) : of_(std::move(of)) {}
  ~Stream() override { of_->gone = true; }
  void Write(absl::string_view bytes) override {
    Require(!of_->input_ended || bytes.empty(), "nothing is heard after the end", bytes);
    absl::StrAppend(&of_->heard, bytes);
  }
  std::size_t unwritten() const override { return 0; }
  void CloseInput() override { of_->input_ended = true; }
  void Resize(int columns, int rows) override {
    Require(columns > 0 && rows > 0 && columns <= 0xffff && rows <= 0xffff, "a terminal has a size",
            absl::StrCat(columns, "x", rows));
  }
  void Took(std::size_t) override {}

 private:
  const std::shared_ptr<Container> of_;
};

class Sessions {
 public:
  Sessions()
      : forward_(forward_socket_, "pod",
                 [this](int port, StreamEvents events) { return Dial(port, std::move(events)); }) {
    auto exec = sandbox::ExecSession::Start(exec_socket_, {}, [this](StreamEvents events) {
      command_->events = std::move(events);
      return absl::StatusOr<std::unique_ptr<ContainerStream>>(std::make_unique<Stream>(command_));
    });
    GW_CHECK(exec.ok());
    exec_ = *std::move(exec);
  }

  void Take(const Line& line) {
    if (line.verb == "exec") return Exec(line);
    if (line.verb == "says" || line.verb == "ends") return Act(line);
    const std::string bytes = BytesOf(line, client_);
    if (bytes.empty() || forward_socket_.closed) return;
    if (line.verb == "raw") raw_ = true;  // what the following bytes are is not ours to say
    opening_ = line;
    if (!raw_ && (line.verb == "data" || line.verb == "fin")) Expect(line.id, line);
    if (!raw_ && line.verb == "reset" && accepted_.contains(line.id)) over_.insert(line.id);
    forward_.OnMessage(bytes);
    Answers();
    Compare();
  }

  void End() const {
    Require(command_->heard == command_->expected, "a command hears what was sent to it", command_->heard);
  }

 private:
  absl::StatusOr<std::unique_ptr<ContainerStream>> Dial(int port, StreamEvents events) {
    Require(port >= 1 && port <= 65535, "a port is one", absl::StrCat(port));
    if (port == 1) return absl::UnavailableError("refused");
    auto container = std::make_shared<Container>();
    container->events = std::move(events);
    containers_.push_back(container);
    const auto there =
        std::count_if(containers_.begin(), containers_.end(), [](const auto& one) { return !one->gone; });
    Require(there <= static_cast<std::ptrdiff_t>(sandbox::PortForwardSession::kMaxConnections),
            "connections are no more than may be", absl::StrCat(there));
    dialed_ = container;
    return std::make_unique<Stream>(std::move(container));
  }

  void Expect(std::uint32_t stream, const Line& line) {
    if (!accepted_.contains(stream) || ended_.contains(stream) || over_.contains(stream)) return;
    sent_[stream] += line.text;
    if (line.verb == "fin") ended_.insert(stream);
  }

  // What came back since: whole frames.
  void Answers() {
    bool accepted = false;
    for (const std::string& message : std::exchange(forward_socket_.sent, {})) {
      absl::string_view bytes = message;
      while (!bytes.empty()) {
        Require(bytes.size() >= 8, "an answer is whole frames", message);
        const std::uint32_t first = Word(bytes, 0), length = Word(bytes, 4) & 0xffffff;
        const bool fin = (Word(bytes, 4) >> 24 & 1) != 0;
        Require(bytes.size() >= 8 + length, "an answer is whole frames", message);
        const std::uint32_t of = (first >> 31) == 0 ? first : length >= 4 ? Word(bytes, 8) : 0;
        if ((first >> 31) == 0) {
          Require(accepted_.contains(of), "bytes come on a stream that was accepted", message);
          Require(!closed_.contains(of), "nothing comes on a stream that is over", message);
          if (fin) closed_.insert(of);
        } else if ((first & 0xffff) == 2) {
          accepted = accepted_.insert(of).second;
          Require(accepted, "a stream is accepted once", message);
        }
        bytes.remove_prefix(8 + length);
      }
    }
    if (dialed_ != nullptr && !raw_) {
      // By the stream that made the pair whole, or the one that came before it.
      dialed_of_.emplace_back(std::exchange(dialed_, nullptr), RequestOf(opening_));
    }
    if (!raw_ && accepted && HeaderOf(opening_, "streamtype") == "data") data_of_[RequestOf(opening_)] = opening_.id;
  }

  void Compare() {
    if (raw_) return;
    for (const auto& [container, request] : dialed_of_) {
      if (container->gone) continue;
      const auto stream = data_of_.find(request);
      Require(stream != data_of_.end(), "a connection has a stream for its bytes", request);
      Require(container->heard == sent_[stream->second], "a container hears what was sent to its stream",
              absl::StrCat(container->heard, "\n", sent_[stream->second]));
    }
  }

  void Exec(const Line& line) {
    if (exec_socket_.closed) return;
    exec_->OnMessage(absl::StrCat(std::string(1, static_cast<char>(line.id)), line.text));
    if ((line.id & 0xff) == 0 && !command_->input_ended) command_->expected += line.text;
  }

  void Act(const Line& line) {
    const std::shared_ptr<Container> who = line.id == 0                    ? command_
                                           : line.id <= containers_.size() ? containers_[line.id - 1]
                                                                           : nullptr;
    const bool over = who == nullptr || who->gone || (who == command_ && exec_socket_.closed);
    if (over || forward_socket_.closed) return;
    if (line.verb == "says") {
      who->events.on_output(false, line.text);
    } else {
      who->events.on_end({line.text, 0});
    }
    opening_ = {};
    Answers();
    if (who == command_ && line.verb == "ends")
      Require(exec_socket_.closed, "a command's end closes the session", line.text);
  }

  static std::uint32_t Word(absl::string_view bytes, std::size_t at) {
    std::uint32_t out = 0;
    for (std::size_t i = 0; i < 4; ++i) out = out << 8 | static_cast<unsigned char>(bytes[at + i]);
    return out;
  }

  SpdyClient client_;
  Socket forward_socket_, exec_socket_;
  std::shared_ptr<Container> command_ = std::make_shared<Container>(), dialed_;
  std::vector<std::shared_ptr<Container>> containers_;
  std::vector<std::pair<std::shared_ptr<Container>, std::string>> dialed_of_;  // with the request
  std::map<std::string, std::uint32_t> data_of_;                               // by request
  std::map<std::uint32_t, std::string> sent_;                                  // by stream
  std::set<std::uint32_t> accepted_, ended_, over_, closed_;
  Line opening_;
  bool raw_ = false;
  sandbox::PortForwardSession forward_;
  std::unique_ptr<sandbox::ExecSession> exec_;
};

}  // namespace
}  // namespace gangway::testutil

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gangway::testutil;
  static const bool quiet = [] {  // once: loggers that were replaced are kept
    gangway::log::Options off;
    off.level = gangway::log::Level::kOff;
    gangway::log::Configure(std::move(off));
    return true;
  }();
  static_cast<void>(quiet);
  std::vector<Line> lines;
  for (const absl::string_view line : absl::StrSplit(TextOf(data, size), '\n')) {
    if (lines.size() < kMaxLines) lines.push_back(Parse(line));
  }
  TryFrames(lines);
  Sessions sessions;
  for (const Line& line : lines) sessions.Take(line);
  sessions.End();
  return 0;
}
