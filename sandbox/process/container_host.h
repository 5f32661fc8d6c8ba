// What runs processes for a kubelet: the real one is another process (host_client.h), tests have one of their own.
#pragma once

#include <functional>
#include <string>

#include "absl/strings/string_view.h"
#include "sandbox/process/orders.h"

namespace gangway::sandbox {

// Called on the loop.
struct HostEvents {
  std::function<void(const News& pod)> on_pod;
  std::function<void(const News& run)> on_started;
  std::function<void(absl::string_view run, absl::string_view bytes)> on_output;
  std::function<void(const News& run)> on_ended;  // after all of its output
  std::function<void(absl::string_view stream, bool error_output, absl::string_view bytes)> on_stream_output;
  std::function<void(const StreamWord& word)> on_stream_took;
  std::function<void(const News& stream)> on_stream_ended;  // after all of its output
  std::function<void()> on_gone;                            // the host itself has ended, and everything with it
};

// Used on the loop. Orders are carried out in their order.
class ContainerHost {
 public:
  virtual ~ContainerHost() = default;
  virtual void SetEvents(HostEvents events) = 0;
  virtual void Prepare(const PodOrder& pod) = 0;      // answered by on_pod
  virtual void Start(const StartOrder& run) = 0;      // answered by on_started; when that went well, later by on_ended
  virtual void Signal(const SignalOrder& order) = 0;  // a run that has ended is passed over
  virtual void Drop(const std::string& pod_uid) = 0;  // ends all runs of the pod; news of them may still come
  // A folder of the sandbox goes, once all that was dropped has ended.
  virtual void Remove(const std::string& folder) = 0;
  virtual void Open(const StreamOrder& stream) = 0;  // answered by on_stream_ended, whatever becomes of it
  virtual void Write(absl::string_view stream, absl::string_view bytes) = 0;  // answered by on_stream_took
  virtual void Say(const StreamWord& word) = 0;                               // nothing comes of a stream that is left
};

}  // namespace gangway::sandbox
