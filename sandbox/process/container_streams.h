// Streams between users and containers, on this side of a ContainerHost: each has an id, and what comes back for it is
// told to whom it belongs.
#pragma once

#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "sandbox/kubelet/container_stream.h"
#include "sandbox/process/container_host.h"

namespace gangway::sandbox {

// Used on the loop, as the host is, which outlives it. Streams may outlive it: they ended with it.
class ContainerStreams {
 public:
  explicit ContainerStreams(ContainerHost& host);
  ~ContainerStreams();
  ContainerStreams(const ContainerStreams&) = delete;
  ContainerStreams& operator=(const ContainerStreams&) = delete;

  // `order` but for its id.
  std::unique_ptr<ContainerStream> Open(StreamOrder order, StreamEvents events);

  // What the host says.
  void OnOutput(absl::string_view id, bool error_output, absl::string_view bytes);
  void OnTook(const StreamWord& word);
  void OnEnded(const News& news);
  void EndAll(absl::string_view why);

 private:
  struct Shared;
  class Handle;
  const std::shared_ptr<Shared> shared_;
};

}  // namespace gangway::sandbox
