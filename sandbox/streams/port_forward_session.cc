#include "sandbox/streams/port_forward_session.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "sandbox/streams/exec_session.h"

namespace gangway::sandbox {
namespace {

std::string HeaderOf(const SpdyFrame& frame, const char* name) {
  const auto it = frame.headers.find(name);
  return it == frame.headers.end() ? std::string() : it->second;
}

}  // namespace

bool PortForwardSession::OnMessage(std::string message) {
  if (over_) return true;
  std::vector<SpdyFrame> frames;
  if (const absl::Status status = reader_.Read(message, frames); !status.ok()) {
    log::Warning("a port-forward was broken off", {{"pod", pod_}, {"error", status.ToString()}});
    over_ = true;
    socket_.Close();
    return true;
  }
  for (const SpdyFrame& frame : frames) {
    Obey(frame);
    if (over_) return true;
  }
  held_ = socket_.unsent() > kMaxUntaken || std::any_of(forwards_.begin(), forwards_.end(), [](const auto& each) {
            return each.second.stream != nullptr && each.second.stream->unwritten() > kMaxUntaken;
          });
  return !held_;
}

void PortForwardSession::OnRoom() {
  for (auto& [request, forward] : forwards_)
    if (forward.stream != nullptr) forward.stream->Took(std::exchange(forward.owed, 0));
  ReadOn();
}

void PortForwardSession::ReadOn() {
  if (std::exchange(held_, false)) socket_.ReadOn();
}

void PortForwardSession::Obey(const SpdyFrame& frame) {
  switch (frame.kind) {
    case SpdyFrame::Kind::kOpen:
      return Open(frame);
    case SpdyFrame::Kind::kData:
      return OnData(frame);
    case SpdyFrame::Kind::kReset: {
      std::string request;
      const Forward* const forward = Find(frame.id, &request);
      if (forward == nullptr || forward->data != frame.id) return;
      requests_.erase(forward->data);
      if (forward->error != 0) {
        requests_.erase(forward->error);
        socket_.Send(SpdyWriter::Data(forward->error, "", true));
      }
      forwards_.erase(request);
      return;
    }
    case SpdyFrame::Kind::kPing:
      if (frame.id % 2 == 1) socket_.Send(SpdyWriter::Ping(frame.id));  // even ones would answer ours
      return;
    case SpdyFrame::Kind::kGoAway:
      over_ = true;
      forwards_.clear();
      socket_.Close();
      return;
  }
}

void PortForwardSession::Open(const SpdyFrame& frame) {
  const std::string type = HeaderOf(frame, "streamtype");
  int port = 0;
  const bool known = type == "error" || type == "data";
  const bool numbered = absl::SimpleAtoi(HeaderOf(frame, "port"), &port) && port >= 1 && port <= 65535;
  std::string request = HeaderOf(frame, "requestid");
  // Of clients before there were any: an error stream comes first, its data stream next.
  if (request.empty()) request = absl::StrCat(type == "error" ? frame.id : frame.id - 2);
  const bool fresh = frame.id % 2 == 1 && frame.id > last_opened_;
  const auto there = forwards_.find(request);
  const bool room = there != forwards_.end() ? (type == "error" ? there->second.error : there->second.data) == 0
                                             : forwards_.size() < kMaxConnections;
  last_opened_ = std::max(last_opened_, frame.id);
  if (!known || !numbered || !fresh || !room) return socket_.Send(SpdyWriter::Reset(frame.id));
  Forward& forward = forwards_[request];
  (type == "error" ? forward.error : forward.data) = frame.id;
  requests_[frame.id] = request;
  socket_.Send(writer_.Accept(frame.id));
  if (type == "data") {
    forward.port = port;
    forward.input_ended = frame.fin;
  }
  if (forward.error != 0 && forward.data != 0) Connect(request, forward);
}

void PortForwardSession::Connect(const std::string& request, Forward& forward) {
  StreamEvents events;
  events.on_output = [this, request](bool, absl::string_view bytes) { OnOutput(request, bytes); };
  events.on_room = [this] { ReadOn(); };
  events.on_end = [this, request](const StreamEnd& end) { OnEnd(request, end); };
  auto stream = dial_(forward.port, std::move(events));
  if (!stream.ok()) return OnEnd(request, {std::string(stream.status().message()), 0});
  forward.stream = *std::move(stream);
  forward.stream->Write(std::exchange(forward.early, {}));
  if (forward.input_ended) forward.stream->CloseInput();
}

void PortForwardSession::OnData(const SpdyFrame& frame) {
  Forward* const forward = Find(frame.id, nullptr);
  if (forward == nullptr || forward->data != frame.id || forward->input_ended) return;
  forward->input_ended = frame.fin;
  if (forward->stream == nullptr) {
    const std::size_t early =
        std::accumulate(forwards_.begin(), forwards_.end(), frame.data.size(),
                        [](std::size_t sum, const auto& each) { return sum + each.second.early.size(); });
    if (early <= kMaxUntaken) {
      forward->early += frame.data;
      return;
    }
    over_ = true;  // it sends without end to streams that are not whole
    return socket_.Close();
  }
  forward->stream->Write(frame.data);
  if (frame.fin) forward->stream->CloseInput();
}

void PortForwardSession::OnOutput(const std::string& request, absl::string_view bytes) {
  const auto it = forwards_.find(request);
  if (it == forwards_.end()) return;
  socket_.Send(SpdyWriter::Data(it->second.data, bytes, false));
  it->second.owed += bytes.size();
  if (socket_.unsent() <= kMaxUntaken) it->second.stream->Took(std::exchange(it->second.owed, 0));
}

void PortForwardSession::OnEnd(const std::string& request, const StreamEnd& end) {
  const auto it = forwards_.find(request);
  if (it == forwards_.end()) return;
  const Forward& forward = it->second;
  std::string what;
  if (!end.error.empty())
    what = absl::StrCat("error forwarding port ", forward.port, " to pod ", pod_, ": ", end.error);
  socket_.Send(SpdyWriter::Data(forward.error, what, true));
  socket_.Send(SpdyWriter::Data(forward.data, "", true));
  requests_.erase(forward.data);
  requests_.erase(forward.error);
  forwards_.erase(it);
  ReadOn();  // it may be the one that was waited for
}

PortForwardSession::Forward* PortForwardSession::Find(std::uint32_t stream, std::string* request) {
  const auto named = requests_.find(stream);
  if (named == requests_.end()) return nullptr;
  if (request != nullptr) *request = named->second;
  return &forwards_.find(named->second)->second;
}

}  // namespace gangway::sandbox
