#include <string>

#include "absl/strings/str_cat.h"
#include "tests/simulation/contended.h"
#include "tests/simulation/drawing.h"

namespace gangway::testutil {
namespace {

constexpr int kCpuWhereItRepeats = 16, kNodesWhereItRepeats = 4;

// Work that comes again, the very same, and takes another time than it took before.
class Repeating : private drawing::Drawing {
 public:
  explicit Repeating(std::uint64_t seed) : Drawing(seed) {}

  Contention Run() {
    result_.nodes = sandbox::MakeNodes({*sandbox::ParseNodeShape(absl::StrCat(
                                           "cpu=", kCpuWhereItRepeats, ",memory=64Gi,count=", kNodesWhereItRepeats))},
                                       0);
    for (int i = Between(2, 4); i > 0; --i) Add(Small(), Seconds(25, 35), absl::Seconds(1));
    for (int i = 0; i < 2; ++i) Add(Holder(), Seconds(30, 35), absl::Seconds(1));
    // Those who hold all nodes but one may take an hour. Some took less before, and take more or less now.
    for (int i = 1; i < kNodesWhereItRepeats; ++i) Add(Holder(i % 2 == 0), Seconds(140, 170), Seconds(45, 46));
    Add(Large(), Seconds(10, 20), Seconds(50, 52));
    // While nodes are kept for the large one: some say how long they take, some took less before.
    for (int i = Between(4, 6); i > 0; --i) Add(Small(), Seconds(170, 200), Seconds(125, 160));
    for (int i = Between(2, 4); i > 0; --i) AddWhoSays(Seconds(115, 160));
    // There is room for it beside the large one, but for the port.
    for (int i = 0; i < 2; ++i) Add(WithThePort(JobOf(1, 1)), Seconds(170, 200), Seconds(115, 130));
    for (Doing& doing : result_.doings) Tell(doing);
    return std::move(result_);
  }

 private:
  static drawing::Job JobOf(int pods, int cpu) {
    drawing::Job job;
    job.queue = "default";
    job.shape = {0, 0, pods, pods, pods};
    job.cpu = cpu;
    job.left_alone = true;
    return job;
  }
  static drawing::Job Small() { return JobOf(1, 4); }
  static drawing::Job Large() { return WithThePort(JobOf(kNodesWhereItRepeats, 13)); }
  static drawing::Job WithThePort(drawing::Job job) {
    job.host_port = 9000;
    return job;
  }
  static drawing::Job Holder(bool as_before = true) {
    drawing::Job job = JobOf(1, 10);
    job.pod_spec = absl::StrCat(R"("activeDeadlineSeconds":)", as_before ? 3600 : 3700, ",");
    return job;
  }
  void Add(drawing::Job job, absl::Duration lasts, absl::Duration at) {
    job.lasts = lasts;
    job.says_nothing_of_it = true;
    Befall(job, {drawing::Trouble::Kind::kNone, ""}, at);
  }
  void AddWhoSays(absl::Duration at) {
    drawing::Job job = JobOf(1, 2);
    const int seconds = Between(10, 60);
    job.lasts = absl::Seconds(seconds);
    job.pod_spec = absl::StrCat(R"("activeDeadlineSeconds":)", seconds + 5, ",");
    Befall(job, {drawing::Trouble::Kind::kNone, ""}, at);
  }
};

}  // namespace

Contention DrawRepeating(std::uint64_t seed) { return Repeating(seed).Run(); }

}  // namespace gangway::testutil
