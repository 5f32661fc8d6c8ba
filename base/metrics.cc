#include "base/metrics.h"

#include <stdexcept>

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include "base/check.h"

namespace gangway {
namespace {

prometheus::Labels ToLabels(const MetricLabels& labels) { return {labels.begin(), labels.end()}; }

// prometheus-cpp throws on a bad name and on a name used with two types: both are mistakes of ours.
template <class F>
auto Must(F make) {
  try {
    return make();
  } catch (const std::exception& e) {
    CheckFailed(__FILE__, __LINE__, e.what());
  }
}

}  // namespace

class Metrics::Impl {
 public:
  prometheus::Registry registry{prometheus::Registry::InsertBehavior::Merge};
};

Metrics::Metrics() : impl_(std::make_unique<Impl>()) {}
Metrics::~Metrics() = default;

Counter Metrics::AddCounter(absl::string_view name, absl::string_view help, const MetricLabels& labels) {
  return Must([&] {
    auto& family = prometheus::BuildCounter().Name(std::string(name)).Help(std::string(help)).Register(impl_->registry);
    return Counter(&family.Add(ToLabels(labels)));
  });
}

Gauge Metrics::AddGauge(absl::string_view name, absl::string_view help, const MetricLabels& labels) {
  return Must([&] {
    auto& family = prometheus::BuildGauge().Name(std::string(name)).Help(std::string(help)).Register(impl_->registry);
    return Gauge(&family.Add(ToLabels(labels)));
  });
}

Histogram Metrics::AddHistogram(absl::string_view name, absl::string_view help, const std::vector<double>& bounds,
                                const MetricLabels& labels) {
  return Must([&] {
    auto& family =
        prometheus::BuildHistogram().Name(std::string(name)).Help(std::string(help)).Register(impl_->registry);
    return Histogram(&family.Add(ToLabels(labels), prometheus::Histogram::BucketBoundaries(bounds)));
  });
}

std::string Metrics::Expose() const { return prometheus::TextSerializer().Serialize(impl_->registry.Collect()); }

void Counter::Add(double n) {
  if (impl_ != nullptr) impl_->Increment(n);
}
void Gauge::Set(double v) {
  if (impl_ != nullptr) impl_->Set(v);
}
void Gauge::Add(double n) {
  if (impl_ != nullptr) impl_->Increment(n);
}
void Histogram::Observe(double v) {
  if (impl_ != nullptr) impl_->Observe(v);
}

const std::vector<double>& DurationBounds() {
  static const std::vector<double> bounds = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25,
                                             0.5,   1,      2.5,   5,    10,    30,   60};
  return bounds;
}

const std::vector<double>& LatencyBounds() {
  static const std::vector<double> bounds = [] {
    std::vector<double> twice;
    for (double bound = 32; twice.size() < 10; bound *= 2) twice.push_back(bound);
    return twice;
  }();
  return bounds;
}

}  // namespace gangway
