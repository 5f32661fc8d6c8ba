#include <array>

#include "absl/strings/str_cat.h"
#include "tests/simulation/contended.h"
#include "tests/simulation/drawing.h"

namespace gangway::testutil {
namespace {

using drawing::Create;
using drawing::kTroubles;
using drawing::Shape;
using drawing::Trouble;

constexpr int kCpuInPieces = 16, kNodesInPieces = 6, kCpuOfFiller = 4, kManyMore = 20;
constexpr absl::Duration kStreamEvery = absl::Seconds(9), kStreamUntil = absl::Seconds(330);

constexpr const char *kMayBeMoved = R"(,"gangway.io/movable":"true")", *kNever = R"(,"volcano.sh/preemptable":"false")",
                     *kNotYet = R"(,"volcano.sh/cooldown-time":"200s")";

// Who is there first, and fills all nodes; of each kind so many.
struct Filler {
  int jobs;
  Shape shape;
  bool lasts;  // else he leaves a piece of a node behind
  const char* annotations = "";
  const char* priority = "";
};
constexpr std::array kFillers{
    Filler{9, {0, 0, 1, 1, 1}, false},
    Filler{1, {0, 0, 2, 2, 2}, false},
    Filler{3, {0, 0, 1, 1, 1}, true, kMayBeMoved},
    Filler{1, {0, 0, 2, 2, 2}, true, kMayBeMoved},
    Filler{1, {0, 0, 1, 1, 1}, true, kMayBeMoved, "high"},
    Filler{5, {0, 0, 1, 1, 1}, true},
    Filler{1, {0, 0, 2, 2, 2}, true},
};
// Who comes then, and finds room where others are moved.
struct Latecomer {
  Shape shape;
  int cpu;
  const char* priority = "";
};
constexpr std::array kLatecomers{Latecomer{{0, 0, 1, 1, 1}, 16}, Latecomer{{0, 0, 1, 1, 1}, 13},
                                 Latecomer{{0, 0, 2, 2, 2}, 12}, Latecomer{{0, 0, 2, 2, 2}, 10, "high"},
                                 Latecomer{{0, 0, 1, 1, 1}, 12, "polite"}};
// Whom nodes are kept for: most of the cluster.
constexpr std::array kLarge{Shape{0, 0, 6, 6, 6}, Shape{0, 0, 5, 5, 5}};
constexpr int kCpuOfLarge = 12;

class Gathering : private drawing::Drawing {
 public:
  Gathering(std::uint64_t seed, bool many) : Drawing(seed), many_(many) {}

  Contention Run() {
    result_.nodes = sandbox::MakeNodes(
        {*sandbox::ParseNodeShape(absl::StrCat("cpu=", kCpuInPieces, ",memory=64Gi,count=", kNodesInPieces))}, 0);
    MakeClasses();
    std::vector<Filler> fillers;
    for (const Filler& filler : kFillers) fillers.insert(fillers.end(), static_cast<std::size_t>(filler.jobs), filler);
    for (std::size_t i = fillers.size(); i > 1; --i) std::swap(fillers[i - 1], fillers[random_.Below(i)]);
    for (const Filler& filler : fillers) Fill(filler);
    for (const Latecomer& comer : kLatecomers) Come(comer);
    for (const Shape& large : kLarge) AddLarge(large);
    for (absl::Duration at = absl::Seconds(100); at < kStreamUntil; at += kStreamEvery) AddToStream(at);
    for (int more = many_ ? kManyMore : 0; more > 0; --more) ComeShortly();
    for (Doing& doing : result_.doings) Tell(doing);
    return std::move(result_);
  }

 private:
  void MakeClasses() {
    for (const auto& [name, rest] :
         {std::pair{"high", R"("value":10)"}, std::pair{"polite", R"("value":20,"preemptionPolicy":"Never")"}}) {
      result_.before.push_back(
          Create(api::kPriorityClasses,
                 absl::StrCat(R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":")",
                              name, R"("},)", rest, "}")));
    }
  }
  static drawing::Job JobOf(const Shape& shape, int cpu, const char* priority) {
    drawing::Job job;
    job.queue = "default";
    job.priority = priority;
    job.shape = shape;
    job.cpu = cpu;
    return job;
  }
  void Fill(const Filler& filler) {
    drawing::Job job = JobOf(filler.shape, kCpuOfFiller, filler.priority);
    job.annotations = filler.annotations;
    if (filler.lasts && Chance(10)) absl::StrAppend(&job.annotations, Chance(50) ? kNever : kNotYet);
    job.lasts = filler.lasts ? Seconds(150, 220) : Seconds(20, 40);
    job.left_alone = !filler.lasts;
    Befall(job, {Trouble::Kind::kNone, ""}, Seconds(1, 2));
  }
  void Come(const Latecomer& comer) {
    drawing::Job job = JobOf(comer.shape, comer.cpu, comer.priority);
    job.lasts = Seconds(30, 60);
    Befall(job, Chance(80) ? Trouble{Trouble::Kind::kNone, ""} : Of(kTroubles), Seconds(45, 90));
  }
  void ComeShortly() {
    drawing::Job job = JobOf({0, 0, 1, 1, 1}, Between(13, 16), "");
    job.lasts = Seconds(3, 8);
    job.left_alone = true;
    Befall(job, {Trouble::Kind::kNone, ""}, Seconds(45, 110));
  }
  void AddLarge(const Shape& shape) {
    drawing::Job job = JobOf(shape, kCpuOfLarge, "");
    job.lasts = Seconds(10, 20);
    job.left_alone = true;
    Befall(job, {Trouble::Kind::kNone, ""}, Seconds(95, 100));
  }
  // Some say how long they last.
  void AddToStream(absl::Duration at) {
    drawing::Job job = JobOf({0, 0, 1, 1, 1}, Between(3, 5), "");
    const int seconds = Between(40, 110);
    job.lasts = absl::Seconds(seconds);
    job.left_alone = true;
    if (Chance(30)) {
      job.annotations = absl::StrCat(R"(,"gangway.io/expected-runtime":")", seconds + 2, R"(s")");
    } else if (Chance(30)) {
      job.pod_spec = absl::StrCat(R"("activeDeadlineSeconds":)", seconds + 5, ",");
    }
    Befall(job, {Trouble::Kind::kNone, ""}, at + Seconds(0, 5));
  }

  const bool many_;
};

}  // namespace

Contention DrawPieces(std::uint64_t seed, bool many) { return Gathering(seed, many).Run(); }

}  // namespace gangway::testutil
