#include <array>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/simulation/contended.h"
#include "tests/simulation/drawing.h"

namespace gangway::testutil {
namespace {

using drawing::Create;
using drawing::Job;
using drawing::kCpus;
using drawing::kTroubles;
using drawing::Shape;
using drawing::Trouble;

constexpr int kCpuPerNode = 16, kNodes = 6, kCpuOfLab = 40, kCpuOfAny = 60;  // beside what is guaranteed

struct RankedQueue {
  const char* name;
  const char* spec;
  const char* annotations = "";
};
constexpr std::array kRankedQueues{
    RankedQueue{"research", R"("weight":2,"parent":"root")"},
    RankedQueue{"vision", R"("weight":1,"parent":"research","guarantee":{"resource":{"cpu":"20"}})"},
    RankedQueue{"speech", R"("weight":3,"parent":"research")"},
    RankedQueue{"ads", R"("weight":4,"parent":"root","deserved":{"cpu":"32"})"},
    RankedQueue{"lab", R"("weight":1,"capability":{"cpu":"40"},"deserved":{"cpu":"8"})"},
    RankedQueue{"kept", R"("weight":1,"parent":"root","reclaimable":false,"guarantee":{"resource":{"cpu":"8"}})"},
    RankedQueue{"steady", R"("weight":1,"parent":"root","priority":1)", R"("gangway.io/min-runtime":"60s")"},
};
struct RankedClass {
  const char* name;
  int value;
  const char* policy = "";
};
constexpr std::array kRankedClasses{RankedClass{"low", 1}, RankedClass{"high", 1000}, RankedClass{"top", 2000},
                                    RankedClass{"polite", 1500, R"(,"preemptionPolicy":"Never")"}};

// Who was there first, and holds what others come for.
struct Holder {
  const char* queue;
  const char* priority;
  Shape shape;
  int cpu;
};
constexpr std::array kHolders{
    Holder{"speech", "", {0, 0, 6, 6, 6}, 2},    Holder{"speech", "low", {0, 0, 8, 3, 3}, 2},
    Holder{"lab", "", {0, 0, 8, 8, 8}, 2},       Holder{"lab", "low", {0, 0, 6, 2, 2}, 3},
    Holder{"default", "", {2, 2, 4, 4, 6}, 2},   Holder{"default", "low", {0, 0, 4, 4, 4}, 3},
    Holder{"vision", "", {0, 0, 4, 4, 4}, 4},    Holder{"kept", "low", {0, 0, 6, 6, 6}, 2},
    Holder{"steady", "low", {0, 0, 4, 4, 4}, 4}, Holder{"ads", "low", {0, 0, 8, 2, 2}, 2},
};
// What comes later, and mostly finds no room.
constexpr std::array kComers{
    Holder{"ads", "high", {0, 0, 8, 8, 8}, 3},    Holder{"vision", "high", {0, 0, 4, 4, 4}, 4},
    Holder{"ads", "polite", {0, 0, 4, 4, 4}, 4},  Holder{"default", "polite", {0, 0, 6, 6, 6}, 2},
    Holder{"kept", "top", {0, 0, 3, 3, 3}, 4},    Holder{"steady", "high", {0, 0, 4, 4, 4}, 4},
    Holder{"default", "top", {0, 0, 4, 4, 4}, 5}, Holder{"speech", "high", {2, 2, 2, 2, 4}, 5},
};
constexpr std::array kShapes{Shape{0, 0, 1, 1, 1}, Shape{0, 0, 2, 2, 2}, Shape{0, 0, 4, 4, 4}, Shape{0, 0, 8, 8, 8},
                             Shape{0, 0, 6, 2, 2}, Shape{0, 0, 8, 4, 4}, Shape{1, 1, 3, 3, 4}, Shape{2, 2, 4, 2, 4}};
constexpr std::array kQueues{"default", "vision", "speech", "ads", "ads", "lab", "kept", "steady"};
constexpr std::array kPriorities{"", "", "low", "low", "high", "top", "polite"};
constexpr const char* kProtected = R"(,"volcano.sh/preemptable":"false")";

class Ranking : private drawing::Drawing {
 public:
  explicit Ranking(std::uint64_t seed) : Drawing(seed) {}

  Contention Run() {
    result_.nodes = sandbox::MakeNodes(
        {*sandbox::ParseNodeShape(absl::StrCat("cpu=", kCpuPerNode, ",memory=64Gi,label:zone=a,count=", kNodes / 2)),
         *sandbox::ParseNodeShape(absl::StrCat("cpu=", kCpuPerNode, ",memory=64Gi,label:zone=b,count=", kNodes / 2))},
        0);
    MakeQueues();
    for (const Holder& holder : kHolders) Add(holder, Seconds(0, 3));
    for (const Holder& comer : kComers) Add(comer, Seconds(20, 150));
    for (int more = Between(5, 8); more > 0; --more)
      Add({Of(kQueues), Of(kPriorities), Of(kShapes), Of(kCpus)}, Seconds(0, 200));
    AddBarePod("bare-0");
    AddHalfAGangOfAnotherScheduler();
    Cordon(kNodes);
    for (Doing& doing : result_.doings) Tell(doing);
    return std::move(result_);
  }

 private:
  void MakeQueues() {
    for (const RankedQueue& queue : kRankedQueues) {
      result_.before.push_back(Create(
          api::kQueues,
          absl::StrCat(R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":")",
                       queue.name, R"(","annotations":{)", queue.annotations, R"(}},"spec":{)", queue.spec, "}}")));
    }
    for (const RankedClass& of : kRankedClasses) {
      result_.before.push_back(
          Create(api::kPriorityClasses,
                 absl::StrCat(R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":")",
                              of.name, R"("},"value":)", of.value, of.policy, "}")));
    }
  }

  // Whether the job's pods fit an empty cluster.
  static bool Fits(const Job& job) {
    const int pods = job.shape.servers + job.shape.trainers;
    return pods <= kNodes * (kCpuPerNode / job.cpu) && pods * job.cpu <= (job.queue == "lab" ? kCpuOfLab : kCpuOfAny);
  }

  void Add(const Holder& of, absl::Duration at) {
    Job job;
    job.queue = of.queue;
    job.priority = of.priority;
    job.shape = of.shape;
    job.cpu = of.cpu;
    while (!Fits(job)) --job.cpu;
    const int protection = Between(0, 99);
    if (protection < 8) job.annotations = kProtected;
    if (protection >= 8 && protection < 14) job.labels = kProtected;
    if (protection >= 14 && protection < 26) job.annotations = R"(,"volcano.sh/cooldown-time":"45s")";
    if (Chance(20)) absl::StrAppend(&job.pod_spec, R"("terminationGracePeriodSeconds":)", Between(0, 20), ",");
    Befall(job, Chance(70) ? Trouble{Trouble::Kind::kNone, ""} : Of(kTroubles), at);
  }
};

}  // namespace

Contention DrawRanked(std::uint64_t seed) { return Ranking(seed).Run(); }

}  // namespace gangway::testutil
