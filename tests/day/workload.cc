#include "tests/day/workload.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace gangway::day {

namespace {

// The same from the same seed with every library, which std::..._distribution is not.
class Draws {
 public:
  explicit Draws(unsigned seed) : engine_(seed) {}
  double Part() { return static_cast<double>(engine_() >> 11) / 9007199254740992.0; }
  int Below(int limit) { return static_cast<int>(Part() * limit); }
  bool Chance(double part) { return Part() < part; }
  double Normal() {
    const double radius = std::sqrt(-2 * std::log(1 - Part()));
    return radius * std::cos(2 * std::numbers::pi * Part());
  }
  template <class T>
  T OneOf(const std::vector<std::pair<T, double>>& weighed) {
    double sum = 0;
    for (const auto& [value, weight] : weighed) sum += weight;
    double left = Part() * sum;
    for (const auto& [value, weight] : weighed) {
      left -= weight;
      if (left < 0) return value;
    }
    return weighed.back().first;
  }

 private:
  std::mt19937_64 engine_;
};

constexpr double kSpread = 1.5;  // of the logarithm of how long jobs run
constexpr double kOfABurst = 0.6;

// Few come at night, most in the afternoon.
Seconds MomentOf(Draws& draws, Seconds length) {
  while (true) {
    const double at = draws.Part();
    const double rate = 1 + 0.7 * std::cos(2 * std::numbers::pi * (at - 15.0 / 24));
    if (draws.Part() * 1.7 < rate) return static_cast<Seconds>(at * length);
  }
}

int PodsOf(Draws& draws, int largest) {
  static const std::vector<std::pair<int, double>> kSizes = {{1, 56}, {2, 12},   {4, 12},   {8, 9},     {16, 5},
                                                             {32, 3}, {64, 1.7}, {128, .8}, {256, .35}, {512, .15}};
  return std::min(draws.OneOf(kSizes), largest);
}

int GpusOf(Draws& draws, int pods) {
  static const std::vector<std::pair<int, double>> kAlone = {{1, 70}, {2, 12}, {4, 10}, {8, 8}},
                                                   kFew = {{1, 45}, {2, 15}, {4, 10}, {8, 30}},
                                                   kMany = {{1, 30}, {8, 70}};
  return draws.OneOf(pods == 1 ? kAlone : pods < 64 ? kFew : kMany);
}

}  // namespace

Workload Draw(const Plan& plan) {
  Workload work;
  work.plan = plan;
  // What they ask for is not what they are worth: that is what shares are for.
  work.queues = {{"ads", 4, 22},  {"search", 3, 10}, {"speech", 2, 14}, {"vision", 2, 12},
                 {"maps", 1, 18}, {"lab", 1, 14},    {"intern", 1, 6},  {"audit", 1, 4}};
  std::vector<std::pair<int, double>> parts;
  for (std::size_t i = 0; i < work.queues.size(); ++i) parts.emplace_back(static_cast<int>(i), work.queues[i].part);
  Draws draws(plan.seed);
  double gpu_time = 0;
  std::vector<double> runs;
  for (int left = plan.pods; left > 0;) {
    Job job;
    job.queue = draws.OneOf(parts);
    job.pods = PodsOf(draws, plan.largest);
    job.gpus = std::min(GpusOf(draws, job.pods), plan.gpus_per_node);
    job.urgent = draws.Chance(0.1);
    const Seconds begins = MomentOf(draws, plan.length);
    // Large gangs come alone, others often as one of many trials.
    int jobs = 1;
    if (job.pods < 64 && draws.Chance(0.25)) jobs = 4 + draws.Below(job.pods < 8 ? 40 : 8);
    const double median = 600 * std::pow(job.pods, 0.15) * std::exp(draws.Normal() * kSpread * kOfABurst);
    for (int i = 0; i < jobs && left > 0; ++i) {
      Job one = job;
      one.pods = std::min(job.pods, left);
      one.comes = std::min(begins + (jobs > 1 ? draws.Below(300) : 0), plan.length - 1);
      const double lasts = median * std::exp(draws.Normal() * kSpread * (1 - kOfABurst));
      one.id = static_cast<int>(runs.size());
      runs.push_back(std::min(lasts, 0.25 * plan.length));
      gpu_time += runs.back() * one.all_gpus();
      left -= one.pods;
      work.jobs.push_back(one);
    }
  }
  const double scale = plan.load * work.all_gpus() * plan.length / gpu_time;
  for (Job& job : work.jobs)
    job.runs = std::max(1, static_cast<Seconds>(std::lround(runs[static_cast<std::size_t>(job.id)] * scale)));
  std::stable_sort(work.jobs.begin(), work.jobs.end(), [](const Job& a, const Job& b) { return a.comes < b.comes; });
  for (std::size_t i = 0; i < work.jobs.size(); ++i) work.jobs[i].id = static_cast<int>(i);
  return work;
}

std::string SizeClass::Name() const {
  return from == to ? absl::StrCat(from, from == 1 ? " pod" : " pods") : absl::StrCat(from, " to ", to);
}

const std::vector<SizeClass>& SizeClasses() {
  static const std::vector<SizeClass> kClasses = {{1, 1}, {2, 8}, {9, 64}, {65, 256}, {257, 512}};
  return kClasses;
}

std::string Describe(const Workload& workload) {
  std::string text = "| gang | jobs | pods | GPU hours | runs, median | longest |\n|---|---|---|---|---|---|\n";
  double all = 0;
  for (const Job& job : workload.jobs) all += static_cast<double>(job.all_gpus()) * job.runs;
  for (const SizeClass& size : SizeClasses()) {
    std::vector<Seconds> runs;
    int pods = 0;
    double gpu_time = 0;
    for (const Job& job : workload.jobs) {
      if (job.pods < size.from || job.pods > size.to) continue;
      runs.push_back(job.runs);
      pods += job.pods;
      gpu_time += static_cast<double>(job.all_gpus()) * job.runs;
    }
    if (runs.empty()) continue;
    std::sort(runs.begin(), runs.end());
    absl::StrAppendFormat(&text, "| %s | %d | %d | %.0f (%.0f%%) | %.0f min | %.1f h |\n", size.Name(), runs.size(),
                          pods, gpu_time / 3600, 100 * gpu_time / all, runs[runs.size() / 2] / 60.0,
                          runs.back() / 3600.0);
  }
  return text;
}

}  // namespace gangway::day
