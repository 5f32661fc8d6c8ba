// A host of containers that does what a test says, and remembers what it was told.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sandbox/process/container_host.h"

namespace gangway::sandbox {

class ScriptedHost final : public ContainerHost {
 public:
  void SetEvents(HostEvents heard) override { events = std::move(heard); }
  void Prepare(const PodOrder& pod) override { prepared.push_back(pod); }
  void Start(const StartOrder& run) override { started.push_back(run); }
  void Signal(const SignalOrder& order) override { signals.push_back(order.signal); }
  void Drop(const std::string&) override {}
  void Remove(const std::string& folder) override { removed.push_back(folder); }
  void Open(const StreamOrder& stream) override { opened.push_back(stream); }
  void Write(absl::string_view, absl::string_view bytes) override { written.append(bytes.data(), bytes.size()); }
  void Say(const StreamWord& word) override {
    if (word.leave) left.push_back(word.id);
  }

  HostEvents events;
  std::vector<PodOrder> prepared;
  std::vector<StartOrder> started;
  std::vector<int> signals;
  std::vector<StreamOrder> opened;
  std::vector<std::string> left, removed;
  std::string written;
};

}  // namespace gangway::sandbox
