#include <array>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/simulation/contended.h"
#include "tests/simulation/drawing.h"

namespace gangway::testutil {
namespace {

constexpr int kCpu = 16, kNodes = 4;

// Who fills the cluster, and loses members: while others wait for the room, and while no node takes anybody.
struct Loser {
  const char* queue;
  int pods, cpu;
};
constexpr std::array kLosers{Loser{"brief", 4, 6}, Loser{"patient", 4, 6}, Loser{"below", 4, 4}};

class Losing : private drawing::Drawing {
 public:
  explicit Losing(std::uint64_t seed) : Drawing(seed) {}

  Contention Run() {
    result_.nodes =
        sandbox::MakeNodes({*sandbox::ParseNodeShape(absl::StrCat("cpu=", kCpu, ",memory=64Gi,count=", kNodes))}, 0);
    MakeQueue("brief", "root", R"("gangway.io/lost-member-grace":"40s")");
    MakeQueue("below", "brief", "");
    MakeQueue("patient", "root", "");
    for (const Loser& loser : kLosers) Hold(loser);
    // Then no node takes anybody for a while, so that members that are lost have nowhere to go.
    const absl::Duration from = Seconds(60, 70), until = Seconds(200, 220);
    for (const sandbox::SimulatedNode& node : result_.nodes) {
      Begin(absl::StrCat(node.name, " cordoned"));
      At(from, {"PATCH", &api::kNodes, node.name, "", R"({"spec":{"unschedulable":true}})"});
      At(until, {"PATCH", &api::kNodes, node.name, "", R"({"spec":{"unschedulable":null}})"});
    }
    for (int i = Between(10, 14); i > 0; --i) AddWaiting();
    for (Doing& doing : result_.doings) Tell(doing);
    return std::move(result_);
  }

 private:
  void MakeQueue(const std::string& name, const std::string& parent, const std::string& annotations) {
    result_.before.push_back(drawing::Create(
        api::kQueues,
        absl::StrCat(R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":")", name,
                     R"(","annotations":{)", annotations, R"(}},"spec":{"weight":1,"reclaimable":false,"parent":")",
                     parent, R"("}})")));
  }
  // A user takes pods of it away.
  void Hold(const Loser& loser) {
    drawing::Job job;
    job.queue = loser.queue;
    job.shape = {0, 0, loser.pods, loser.pods, loser.pods};
    job.cpu = loser.cpu;
    job.lasts = Seconds(300, 340);
    job.left_alone = true;
    Befall(job, {drawing::Trouble::Kind::kNone, ""}, Seconds(0, 1));
    for (const absl::Duration at : {Seconds(20, 29), Seconds(31, 39), Seconds(41, 50), Seconds(75, 90)})
      At(at, drawing::Delete(api::kPods, absl::StrCat(job.name, "-w-", Between(0, loser.pods - 1))));
  }
  void AddWaiting() {
    drawing::Job job;
    job.queue = Chance(50) ? "patient" : "default";
    job.shape = {0, 0, 1, 1, 1};
    job.cpu = Between(3, 6);
    job.lasts = Seconds(20, 40);
    job.left_alone = true;
    Befall(job, {drawing::Trouble::Kind::kNone, ""}, Seconds(5, 15));
  }
};

}  // namespace

Contention DrawLosing(std::uint64_t seed) { return Losing(seed).Run(); }

}  // namespace gangway::testutil
