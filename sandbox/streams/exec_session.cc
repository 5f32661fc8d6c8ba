#include "sandbox/streams/exec_session.h"

#include <utility>

#include "base/status_macros.h"
#include "sandbox/streams/remote_command.h"

namespace gangway::sandbox {

absl::StatusOr<std::unique_ptr<ExecSession>> ExecSession::Start(kube::WebSocket& socket, ExecOutputs outputs,
                                                                const Open& open) {
  std::unique_ptr<ExecSession> session(new ExecSession(socket, outputs));
  StreamEvents events;
  events.on_output = [raw = session.get()](bool error_output, absl::string_view bytes) {
    raw->OnOutput(error_output, bytes);
  };
  events.on_room = [raw = session.get()] {
    if (std::exchange(raw->held_, false)) raw->socket_.ReadOn();
  };
  events.on_end = [raw = session.get()](const StreamEnd& end) { raw->OnEnd(end); };
  GW_ASSIGN_OR_RETURN(session->stream_, open(std::move(events)));
  // It is open (cri-streaming: createWebSocketStreams).
  const RemoteChannel lowest = outputs.output         ? RemoteChannel::kOutput
                               : outputs.error_output ? RemoteChannel::kErrorOutput
                                                      : RemoteChannel::kStatus;
  socket.Send(RemoteMessage(lowest, ""));
  return session;
}

bool ExecSession::OnMessage(std::string message) {
  if (message.empty()) return true;
  const absl::string_view bytes = absl::string_view(message).substr(1);
  switch (static_cast<RemoteChannel>(message.front())) {
    case RemoteChannel::kInput:
      if (input_ended_) return true;
      stream_->Write(bytes);
      held_ = stream_->unwritten() > kMaxUntaken;
      return !held_;
    case RemoteChannel::kResize:
      if (const auto size = ParseTerminalSize(bytes)) stream_->Resize(size->columns, size->rows);
      return true;
    case RemoteChannel::kClose:
      if (bytes.size() == 1 && static_cast<RemoteChannel>(bytes.front()) == RemoteChannel::kInput &&
          !std::exchange(input_ended_, true))
        stream_->CloseInput();
      return true;
    case RemoteChannel::kOutput:
    case RemoteChannel::kErrorOutput:
    case RemoteChannel::kStatus:
      break;  // are ours
  }
  return true;
}

void ExecSession::OnRoom() { stream_->Took(std::exchange(owed_, 0)); }

void ExecSession::OnOutput(bool error_output, absl::string_view bytes) {
  if (error_output ? outputs_.error_output : outputs_.output)
    socket_.Send(RemoteMessage(error_output ? RemoteChannel::kErrorOutput : RemoteChannel::kOutput, bytes));
  owed_ += bytes.size();
  if (socket_.unsent() <= kMaxUntaken) OnRoom();
}

void ExecSession::OnEnd(const StreamEnd& end) {
  socket_.Send(RemoteMessage(RemoteChannel::kStatus, RemoteStatus(end)));
  socket_.Close();
}

}  // namespace gangway::sandbox
