#include <array>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/simulation/contended.h"
#include "tests/simulation/drawing.h"

namespace gangway::testutil {
namespace {

using drawing::Create;
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
    RankedQueue{"vision",
                R"("weight":1,"parent":"research","guarantee":{"resource":{"cpu":"20"}},"deserved":{"cpu":"20"})"},
    RankedQueue{"speech", R"("weight":3,"parent":"research")"},
    RankedQueue{"ads", R"("weight":4,"parent":"root","deserved":{"cpu":"32"})"},
    RankedQueue{"lab", R"("weight":1,"capability":{"cpu":"40"},"deserved":{"cpu":"8"})"},
    RankedQueue{"kept", R"("weight":1,"parent":"root","reclaimable":false)"},
    RankedQueue{"steady", R"("weight":1,"parent":"root","priority":1)", R"("gangway.io/min-runtime":"150s")"},
};
struct RankedClass {
  const char* name;
  int value;
  const char* policy = "";
};
constexpr std::array kRankedClasses{RankedClass{"low", 1}, RankedClass{"high", 1000}, RankedClass{"top", 2000},
                                    RankedClass{"polite", 1500, R"(,"preemptionPolicy":"Never")"}};

struct Comer {
  const char* queue;
  const char* priority;
  Shape shape;
  int cpu;
};
// Who was there first and would have to go first, but for what protects him: his own word, for a while, or his queue's
// guarantee, minimum runtime, or that it gives nothing; or a budget that allows no disruption.
constexpr const char *kStays = R"(,"volcano.sh/preemptable":"false")",
                     *kStaysLong = R"(,"volcano.sh/cooldown-time":"200s")", *kOfBudget = R"(,"budget":"none")";
struct Protected {
  Comer job;
  const char *annotations = "", *labels = "";
};
constexpr std::array kProtected{
    Protected{{"default", "", {0, 0, 4, 4, 4}, 2}, kStays},
    Protected{{"lab", "", {0, 0, 2, 2, 2}, 2}, "", kStays},
    Protected{{"lab", "", {0, 0, 4, 4, 4}, 2}, kStaysLong},
    Protected{{"default", "", {0, 0, 2, 2, 2}, 2}, kStaysLong},
    Protected{{"default", "", {0, 0, 3, 3, 3}, 2}, "", kOfBudget},
    Protected{{"lab", "", {0, 0, 2, 2, 2}, 2}, "", kOfBudget},
    Protected{{"steady", "", {0, 0, 3, 3, 3}, 4}},
    Protected{{"kept", "", {0, 0, 2, 2, 2}, 3}},
    Protected{{"kept", "", {0, 0, 2, 2, 2}, 3}},
    Protected{{"kept", "", {0, 0, 2, 2, 2}, 3}},
    Protected{{"vision", "", {0, 0, 2, 2, 2}, 4}},
    Protected{{"vision", "", {0, 0, 4, 4, 4}, 2}},
};
// Who came next, and holds what others come for.
constexpr std::array kHolders{
    Comer{"default", "low", {0, 0, 4, 4, 4}, 3}, Comer{"lab", "low", {0, 0, 6, 2, 2}, 3},
    Comer{"speech", "low", {0, 0, 8, 3, 3}, 2},  Comer{"speech", "low", {0, 0, 6, 6, 6}, 2},
    Comer{"ads", "low", {0, 0, 8, 2, 2}, 2},     Comer{"default", "low", {2, 2, 4, 4, 6}, 2},
    Comer{"lab", "low", {0, 0, 4, 4, 4}, 2},
};
// What comes later, and mostly finds no room.
constexpr std::array kComers{
    Comer{"ads", "high", {0, 0, 8, 8, 8}, 3},    Comer{"vision", "high", {0, 0, 4, 4, 4}, 4},
    Comer{"ads", "polite", {0, 0, 4, 4, 4}, 4},  Comer{"default", "polite", {0, 0, 6, 6, 6}, 2},
    Comer{"kept", "top", {0, 0, 3, 3, 3}, 4},    Comer{"steady", "high", {0, 0, 4, 4, 4}, 4},
    Comer{"default", "top", {0, 0, 4, 4, 4}, 5}, Comer{"speech", "high", {2, 2, 2, 2, 4}, 5},
};
constexpr std::array kRankedShapes{Shape{0, 0, 1, 1, 1}, Shape{0, 0, 2, 2, 2}, Shape{0, 0, 4, 4, 4},
                                   Shape{0, 0, 8, 8, 8}, Shape{0, 0, 6, 2, 2}, Shape{0, 0, 8, 4, 4},
                                   Shape{1, 1, 3, 3, 4}, Shape{2, 2, 4, 2, 4}};
constexpr std::array kComersQueues{"default", "vision", "speech", "ads", "ads", "lab", "kept", "steady"};
constexpr std::array kRankedPriorities{"", "", "low", "low", "high", "top", "polite"};

class Ranking : private drawing::Drawing {
 public:
  explicit Ranking(std::uint64_t seed) : Drawing(seed) {}

  Contention Run() {
    result_.nodes = sandbox::MakeNodes(
        {*sandbox::ParseNodeShape(absl::StrCat("cpu=", kCpuPerNode, ",memory=64Gi,label:zone=a,count=", kNodes / 2)),
         *sandbox::ParseNodeShape(absl::StrCat("cpu=", kCpuPerNode, ",memory=64Gi,label:zone=b,count=", kNodes / 2))},
        0);
    MakeQueues();
    for (const Protected& first : kProtected) Add(first, Seconds(1, 2));
    for (const Comer& holder : kHolders) Add(holder, Seconds(3, 5));
    for (const Comer& comer : kComers) Add(comer, Seconds(15, 120));
    for (int more = Between(5, 8); more > 0; --more)
      Add(Comer{Of(kComersQueues), Of(kRankedPriorities), Of(kRankedShapes), Of(kCpus)}, Seconds(0, 200));
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
    result_.before.push_back(Create(
        api::kPodDisruptionBudgets,
        R"({"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"none"},"spec":{"selector":{"matchLabels":{"budget":"none"}}}})"));
    for (const RankedClass& of : kRankedClasses) {
      result_.before.push_back(
          Create(api::kPriorityClasses,
                 absl::StrCat(R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":")",
                              of.name, R"("},"value":)", of.value, of.policy, "}")));
    }
  }

  // Whether the job's pods fit an empty cluster.
  static bool Fits(const drawing::Job& job) {
    const int pods = job.shape.servers + job.shape.trainers;
    return pods <= kNodes * (kCpuPerNode / job.cpu) && pods * job.cpu <= (job.queue == "lab" ? kCpuOfLab : kCpuOfAny);
  }

  static drawing::Job JobOf(const Comer& of) {
    drawing::Job job;
    job.queue = of.queue;
    job.priority = of.priority;
    job.shape = of.shape;
    job.cpu = of.cpu;
    while (!Fits(job)) --job.cpu;
    return job;
  }
  void Add(const Protected& first, absl::Duration at) {
    drawing::Job job = JobOf(first.job);
    job.annotations = first.annotations;
    job.labels = first.labels;
    job.lasts = Seconds(120, 200);
    Befall(job, {Trouble::Kind::kNone, ""}, at);
  }
  void Add(const Comer& of, absl::Duration at) {
    drawing::Job job = JobOf(of);
    const int protection = Between(0, 99);
    if (protection < 5) job.annotations = kStays;
    if (protection >= 5 && protection < 10) job.annotations = kStaysLong;
    if (protection >= 10 && protection < 13) job.labels = kOfBudget;
    if (Chance(20)) absl::StrAppend(&job.pod_spec, R"("terminationGracePeriodSeconds":)", Between(0, 20), ",");
    Befall(job, Chance(70) ? Trouble{Trouble::Kind::kNone, ""} : Of(kTroubles), at);
  }
};

}  // namespace

Contention DrawRanked(std::uint64_t seed) { return Ranking(seed).Run(); }

}  // namespace gangway::testutil
