// What is counted of calls by their name. Prometheus' own way from names and labels to a metric takes longer than a
// look-up is answered in: here each is found once.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/metrics.h"
#include "base/mutex.h"

namespace gangway::extender {

// Thread-safe. The metrics outlive it.
class CallFigures {
 public:
  struct Figure {
    std::string name, help;
    std::vector<double> bounds;  // of a histogram
  };
  struct Words {
    std::string call, result;         // labels
    Figure results, duration, bytes;  // a counter by both labels, histograms by the first
  };
  CallFigures(Metrics& metrics, Words words) : metrics_(metrics), words_(std::move(words)) {}

  // Names and results are from fixed sets.
  void CountResult(absl::string_view call, absl::string_view result);
  void CountMessage(absl::string_view call, std::size_t bytes, absl::Duration took);

 private:
  struct Message {
    Histogram duration, bytes;
  };
  Counter ResultOf(absl::string_view call, absl::string_view result);
  Message MessageOf(absl::string_view call);

  Metrics& metrics_;
  const Words words_;
  Mutex mu_;
  absl::flat_hash_map<std::string, absl::flat_hash_map<std::string, Counter>> results_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, Message> messages_ ABSL_GUARDED_BY(mu_);
};

}  // namespace gangway::extender
