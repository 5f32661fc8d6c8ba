#include "plugin/gang/order.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "tests/plugin/gang/world.h"

namespace gangway::gang {
namespace {

using ::testing::ElementsAre;
using testutil::At;
using testutil::Cpu;
using testutil::Gang;
using testutil::Pod;
using testutil::World;

model::GangId Add(World& w, const std::string& name, int created, const std::string& priority = "",
                  const std::string& queue = "default") {
  model::GangFacts gang = Gang(name, 1);
  gang.created = At(created);
  gang.priority_class = priority;
  gang.queue = queue;
  return w.cluster.SetGang(gang);
}

TEST(LineUpTest, PriorityThenArrivalThenName) {
  World w;
  w.cluster.SetPriorityClass({"high", 10, false});
  const std::vector<model::GangId> gangs = {Add(w, "late", 2), Add(w, "b", 1), Add(w, "a", 1),
                                            Add(w, "important", 3, "high")};
  const std::vector<QueueLine> lines = LineUp(w.cluster, Policy(), gangs);
  ASSERT_EQ(lines.size(), 1u);
  std::vector<std::string> names;
  for (const model::GangId id : lines[0].gangs) names.push_back(w.cluster.gang(id).name);
  EXPECT_THAT(names, ElementsAre("important", "a", "b", "late"));
}

class NextQueueTest : public ::testing::Test {
 protected:
  NextQueueTest() {
    testutil::AddNodes(w.cluster, 1, 10);
    w.cluster.SetQueue(testutil::Queue("other"));
    ids = {Add(w, "a", 0), Add(w, "b", 0, "", "other")};
    shape = w.cluster.task(w.cluster.SetPod(Pod("a", "w", 0, Cpu(2000)))).shape;
  }
  std::vector<std::string> Served(const Overlay& overlay) {
    std::vector<QueueLine> lines = LineUp(w.cluster, Policy(), ids);
    std::vector<std::string> names;
    while (QueueLine* const line = NextQueue(overlay, lines)) {
      names.push_back(w.cluster.queue(line->queue).name);
      ++line->next;
    }
    return names;
  }
  World w;
  std::vector<model::GangId> ids;
  model::ShapeId shape = model::kNone;
};

TEST_F(NextQueueTest, TheNameEndsTies) { EXPECT_THAT(Served(Overlay(w.cluster)), ElementsAre("default", "other")); }

TEST_F(NextQueueTest, WhoHoldsLessComesFirst) {
  Overlay overlay(w.cluster);
  overlay.TakeFromQueue(w.cluster.gang(ids[0]).queue, w.cluster.shape(shape).request);
  EXPECT_THAT(Served(overlay), ElementsAre("other", "default"));
}

TEST_F(NextQueueTest, WeightsDivideWhatIsHeld) {
  model::QueueFacts heavy = testutil::Queue("default");
  heavy.weight = 3;
  w.cluster.SetQueue(heavy);
  Overlay overlay(w.cluster);
  model::Resources twice = w.cluster.shape(shape).request;
  twice.Add(twice);
  overlay.TakeFromQueue(w.cluster.gang(ids[0]).queue, twice);
  overlay.TakeFromQueue(w.cluster.gang(ids[1]).queue, w.cluster.shape(shape).request);
  EXPECT_THAT(Served(overlay), ElementsAre("default", "other"));
}

TEST_F(NextQueueTest, PriorityComesBeforeShares) {
  model::QueueFacts first = testutil::Queue("other");
  first.priority = 1;
  w.cluster.SetQueue(first);
  Overlay overlay(w.cluster);
  overlay.TakeFromQueue(w.cluster.gang(ids[1]).queue, w.cluster.shape(shape).request);
  EXPECT_THAT(Served(overlay), ElementsAre("other", "default"));
}

TEST(SortTasksTest, PriorityNumberArrivalName) {
  World w;
  w.cluster.SetGang(Gang("g", 1));
  std::vector<model::TaskId> tasks;
  const auto add = [&](const std::string& name, int priority, int index, int created) {
    model::PodFacts pod = Pod("g", "w", index, Cpu(100));
    pod.name = pod.uid = name;
    pod.priority = priority;
    pod.created = At(created);
    tasks.push_back(w.cluster.SetPod(pod));
  };
  add("z", 1, 0, 5);
  add("y", 1, 0, 5);
  add("older", 1, 0, 4);
  add("second", 1, 1, 0);
  add("first", 2, 9, 9);
  SortTasks(w.cluster, tasks);
  std::vector<std::string> names;
  for (const model::TaskId id : tasks) names.push_back(w.cluster.task(id).name);
  EXPECT_THAT(names, ElementsAre("first", "older", "y", "z", "second"));
}

}  // namespace
}  // namespace gangway::gang
