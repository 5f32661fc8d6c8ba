// How a pod failed: which of its containers ended badly first, or what was said of the pod as a whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/core/pod.h"

namespace gangway::api::volcano {

struct PodFailure {
  static constexpr std::size_t kMaxMessage = 512;

  std::string container;       // "" when it is of the pod: its node was lost, it was evicted
  bool run_again = false;      // the container has been started again in its pod: its log is the previous one
  std::int32_t exit_code = 0;  // of the container
  std::string reason;          // "OOMKilled", "Evicted", "DeletionByTaintManager"
  std::string message;         // the end of what the container or the node left behind, at most kMaxMessage bytes
  absl::Time at = absl::InfiniteFuture();  // InfiniteFuture: nobody says
  friend bool operator==(const PodFailure&, const PodFailure&) = default;
};

// nullopt when nothing of the pod has failed. What a pod's containers do because it is being deleted is no failure; why
// it is, is one where the API server says so (condition DisruptionTarget). A reason of the pod's own comes before its
// containers'.
std::optional<PodFailure> FailureOf(const core::Pod& pod);

// "container w ended with exit code 137 (OOMKilled)", "Evicted"; without the message.
std::string Describe(const PodFailure& failure);
// " (OOMKilled)"; "" when the reason only says that it is one.
std::string ReasonText(absl::string_view reason);

// The last `most` bytes of the text at the most, not cut within a character nor, where it has several, within a line.
std::string TailOf(absl::string_view text, std::size_t most);
absl::string_view LastLine(absl::string_view text);

}  // namespace gangway::api::volcano
