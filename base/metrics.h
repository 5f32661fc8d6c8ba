// Counters, gauges and histograms in Prometheus' text format.
//
// Names are `gangway_<what>_<unit>`, `_total` for counters. Labels are few and from fixed sets; never a pod's name.
// Handles are small, copyable and thread-safe; one that was default-constructed counts nothing, so a component whose
// owner wants no metrics needs no ifs. A handle must not outlive its Metrics.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace prometheus {
class Counter;
class Gauge;
class Histogram;
}  // namespace prometheus

namespace gangway {

class Counter {
 public:
  Counter() = default;
  void Add(double n = 1);  // n >= 0

 private:
  friend class Metrics;
  explicit Counter(prometheus::Counter* impl) : impl_(impl) {}
  prometheus::Counter* impl_ = nullptr;
};

class Gauge {
 public:
  Gauge() = default;
  void Set(double v);
  void Add(double n);

 private:
  friend class Metrics;
  explicit Gauge(prometheus::Gauge* impl) : impl_(impl) {}
  prometheus::Gauge* impl_ = nullptr;
};

class Histogram {
 public:
  Histogram() = default;
  void Observe(double v);

 private:
  friend class Metrics;
  explicit Histogram(prometheus::Histogram* impl) : impl_(impl) {}
  prometheus::Histogram* impl_ = nullptr;
};

using MetricLabels = std::vector<std::pair<std::string, std::string>>;

// Thread-safe. The same name and labels give the same metric again; the same name with another type, or a name or label
// that Prometheus does not allow, ends the process.
class Metrics {
 public:
  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  Counter AddCounter(absl::string_view name, absl::string_view help, const MetricLabels& labels = {});
  Gauge AddGauge(absl::string_view name, absl::string_view help, const MetricLabels& labels = {});
  // `bounds` ascend; the bucket +Inf is implied. Metrics of one name have the same bounds.
  Histogram AddHistogram(absl::string_view name, absl::string_view help, const std::vector<double>& bounds,
                         const MetricLabels& labels = {});

  // Text exposition format 0.0.4.
  std::string Expose() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// Seconds, from a millisecond to a minute.
const std::vector<double>& DurationBounds();
// Milliseconds, from 32 to 16 s: Volcano's for jobs (volcano: pkg/scheduler/metrics/metrics.go).
const std::vector<double>& LatencyBounds();

}  // namespace gangway
