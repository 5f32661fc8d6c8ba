// What goes on between users and containers, on the host's side: commands that run in containers, and connections to
// ports of pods. A part of the host's loop: files that never wait, polled with everything else.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "sandbox/process/host/container_child.h"
#include "sandbox/process/orders.h"

namespace gangway::sandbox {

class HostStreams {
 public:
  using Say = std::function<void(FrameKind kind, absl::string_view payload)>;
  // `say` sends news; `home` is the network to come back to, -1: it is never left.
  HostStreams(Say say, int home) : say_(std::move(say)), home_(home) {}
  ~HostStreams();
  HostStreams(const HostStreams&) = delete;
  HostStreams& operator=(const HostStreams&) = delete;

  void Exec(const StreamOrder& order, const ExecPlace& place);
  // `network`: of the pod, -1: the machine's.
  void Dial(const StreamOrder& order, int network);
  // When it could not even begin.
  void Refuse(const std::string& id, absl::string_view why);
  void Write(absl::string_view id, absl::string_view bytes);
  void Obey(const StreamWord& word);

  // Appends what is to be waited for; `room`: output is wanted.
  void AddTo(std::vector<pollfd>& fds, bool room);
  // What has come of that; it stands in `fds` from `begin` on.
  void Handle(const std::vector<pollfd>& fds, std::size_t begin);
  // Of one that is none of ours nothing happens.
  void Exited(pid_t pid, int status);

 private:
  struct Stream {
    std::string id, trouble_text, input_left;
    pid_t pid = -1;  // -1: a connection
    int input = -1, output = -1, error_output = -1, trouble = -1;
    std::size_t ahead = 0;  // bytes told of, not taken
    bool terminal = false, connecting = false, connect_only = false, input_ends = false, exited = false;
    int status = 0;
    int columns = 0, rows = 0;  // that its terminal is to have; 0: not said
  };
  struct Watched {
    std::string id;
    int Stream::* file;
  };

  void ReadTrouble(Stream& stream);
  void ReadOutput(Stream& stream, int Stream::* file);
  void Resize(const Stream& stream);
  void FinishConnecting(Stream& stream);
  void WriteInput(Stream& stream);
  void CloseInput(Stream& stream);
  void CloseAll(Stream& stream);
  void Settle();

  const Say say_;
  const int home_;
  std::map<std::string, Stream, std::less<>> streams_;
  std::vector<Watched> watched_;  // in the order of their pollfds
};

}  // namespace gangway::sandbox
