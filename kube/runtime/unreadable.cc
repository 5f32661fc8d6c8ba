#include "kube/runtime/unreadable.h"

#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"

namespace gangway::kube {
namespace {

constexpr std::size_t kMostWaiting = 1000;

}  // namespace

void Unreadable::Tell(const api::ObjectReference& regarding, const absl::Status& status) {
  if (regarding.name.empty()) return;
  EventNote note{EventNote::Type::kWarning, "InvalidObject",
                 absl::StrCat("this version of the object cannot be read and is ignored: ", status.message()),
                 regarding};
  if (open_) {
    recorder_.Record(note);
  } else if (waiting_.size() < kMostWaiting) {
    waiting_.push_back(std::move(note));
  }
}

void Unreadable::Begin() {
  open_ = true;
  for (const EventNote& note : std::exchange(waiting_, {})) recorder_.Record(note);
}

}  // namespace gangway::kube
