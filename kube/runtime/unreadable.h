// Tells the users of objects that a cache cannot decode: by an event on each, once we may write.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "api/meta.h"
#include "kube/plan/plan.h"
#include "kube/runtime/recorder.h"

namespace gangway::kube {

// What a standby sees is told when it leads; of that, the first thousand. Used on its loop; the recorder must outlive
// it.
class Unreadable {
 public:
  explicit Unreadable(Recorder& recorder) : recorder_(recorder) {}

  // A cache's OnDecodeError. An object without a name cannot be told to anybody.
  void Tell(const api::ObjectReference& regarding, const absl::Status& status);
  void Begin();
  void End() { open_ = false; }

 private:
  Recorder& recorder_;
  bool open_ = false;
  std::vector<EventNote> waiting_;
};

}  // namespace gangway::kube
