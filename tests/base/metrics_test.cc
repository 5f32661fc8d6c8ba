#include "base/metrics.h"

#include <thread>
#include <vector>

#include "gmock/gmock.h"

namespace gangway {
namespace {

using ::testing::HasSubstr;

TEST(MetricsTest, ExposesPrometheusText) {
  Metrics metrics;
  metrics.AddCounter("gangway_writes_total", "Writes", {{"result", "done"}}).Add(3);
  metrics.AddGauge("gangway_queued_keys", "Keys").Set(7);
  metrics.AddHistogram("gangway_verb_duration_seconds", "Time", {0.1, 1}).Observe(0.5);
  const std::string text = metrics.Expose();
  EXPECT_THAT(text, HasSubstr("# TYPE gangway_writes_total counter\n"));
  EXPECT_THAT(text, HasSubstr("gangway_writes_total{result=\"done\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("gangway_queued_keys 7\n"));
  EXPECT_THAT(text, HasSubstr("gangway_verb_duration_seconds_bucket{le=\"0.1\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("gangway_verb_duration_seconds_bucket{le=\"1\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("gangway_verb_duration_seconds_bucket{le=\"+Inf\"} 1\n"));
}

TEST(MetricsTest, TheSameNameAndLabelsAreTheSameMetric) {
  Metrics metrics;
  metrics.AddCounter("gangway_a_total", "A", {{"x", "1"}}).Add();
  metrics.AddCounter("gangway_a_total", "A", {{"x", "1"}}).Add();
  metrics.AddCounter("gangway_a_total", "A", {{"x", "2"}}).Add();
  EXPECT_THAT(metrics.Expose(), HasSubstr("gangway_a_total{x=\"1\"} 2\n"));
  EXPECT_THAT(metrics.Expose(), HasSubstr("gangway_a_total{x=\"2\"} 1\n"));
}

TEST(MetricsTest, AHandleOfNothingCountsNothing) {
  Counter counter;
  Gauge gauge;
  Histogram histogram;
  counter.Add();
  gauge.Set(1);
  gauge.Add(1);
  histogram.Observe(1);
}

TEST(MetricsTest, ThreadsCountTogether) {
  Metrics metrics;
  Counter counter = metrics.AddCounter("gangway_a_total", "A");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([counter]() mutable {
      for (int i = 0; i < 1000; ++i) counter.Add();
    });
  }
  const std::string meanwhile = metrics.Expose();
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(meanwhile, HasSubstr("gangway_a_total"));
  EXPECT_THAT(metrics.Expose(), HasSubstr("gangway_a_total 4000\n"));
}

TEST(MetricsDeathTest, ABadNameEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  Metrics metrics;
  EXPECT_DEATH(metrics.AddCounter("not a name", ""), "check failed");
}

}  // namespace
}  // namespace gangway
