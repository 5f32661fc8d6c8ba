// The container host as a process of its own (host/warden.h), and this side of the socket to it.
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/loop.h"
#include "base/mutex.h"
#include "sandbox/process/container_host.h"

namespace gangway::sandbox {

// Used on the loop, as ContainerHost is; destroyed on its thread or while it does not run.
class HostClient final : public ContainerHost {
 public:
  // Starts `program` (this one, as a rule) as the host and waits until it can run containers; Unavailable says what the
  // machine does not allow. `setup.folder` is there, and is removed with the host. Blocks for milliseconds.
  static absl::StatusOr<std::unique_ptr<HostClient>> Start(Loop& loop, const std::string& program,
                                                           const HostSetup& setup);
  // Ends every container, and waits until nothing is left of them.
  ~HostClient() override;
  HostClient(const HostClient&) = delete;
  HostClient& operator=(const HostClient&) = delete;

  // What this machine does not allow, a line each.
  const std::vector<std::string>& notes() const { return notes_; }

  // A socket that listens where `setup` said that pods find the API server, which is the caller's from then on; -1:
  // none.
  int TakeApiListener() { return std::exchange(api_listener_, -1); }

  void SetEvents(HostEvents events) override { events_ = std::move(events); }
  void Prepare(const PodOrder& pod) override { Send(FrameKind::kPod, api::Encode(pod)); }
  void Start(const StartOrder& run) override { Send(FrameKind::kStart, api::Encode(run)); }
  void Signal(const SignalOrder& order) override { Send(FrameKind::kSignal, api::Encode(order)); }
  void Drop(const std::string& pod_uid) override { Send(FrameKind::kDrop, pod_uid); }
  void Remove(const std::string& folder) override { Send(FrameKind::kRemove, folder); }
  void Open(const StreamOrder& stream) override { Send(FrameKind::kStream, api::Encode(stream)); }
  void Write(absl::string_view stream, absl::string_view bytes) override {
    Send(FrameKind::kInput, OutputPayload(stream, bytes));
  }
  void Say(const StreamWord& word) override { Send(FrameKind::kWord, api::Encode(word)); }

 private:
  HostClient(Loop& loop, int socket, pid_t pid) : loop_(loop), socket_(socket), pid_(pid) {}

  absl::Status WaitUntilReady();
  void Send(FrameKind kind, absl::string_view payload);
  void Read(const Token& token);  // on a thread of its own
  bool Wait(std::size_t bytes);
  void Take(const std::string& frames);
  void TakeOne(const FrameView& frame);

  Loop& loop_;
  const int socket_;
  const pid_t pid_;
  int api_listener_ = -1;
  std::vector<std::string> notes_;
  std::string early_;  // came with the first news
  HostEvents events_;
  std::thread reader_;
  Mutex mu_;
  std::condition_variable_any taken_;
  std::size_t waiting_ ABSL_GUARDED_BY(mu_) = 0;  // bytes that the loop has not taken yet
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  Owner owner_;
};

}  // namespace gangway::sandbox
