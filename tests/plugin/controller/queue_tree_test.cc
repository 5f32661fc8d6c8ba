// Queues below queues, through the controllers (Volcano: pkg/controllers/queue, row Q4).
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/plugin/controller/controllers_fixture.h"

namespace gangway::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class QueueTreeTest : public ControllersTest {
 protected:
  void AddQueue(const std::string& name, const std::string& parent) {
    Create(api::kQueues,
           absl::StrCat(R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":")", name,
                        R"("},"spec":{)", parent.empty() ? "" : absl::StrCat(R"("parent":")", parent, "\""), "}}"));
  }
  void Order(const std::string& queue, const std::string& action) {
    Create(api::kCommands,
           absl::StrCat(
               R"({"apiVersion":"bus.volcano.sh/v1alpha1","kind":"Command","metadata":{"name":"order"},"action":")",
               action, R"(","target":{"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","name":")", queue,
               R"(","uid":"x"}})"));
  }
  std::string State(const std::string& queue) {
    return std::string(Get(api::kQueues, queue).at("status").at("state").as_string());
  }
};

TEST_F(QueueTreeTest, Q4ClosingAndOpeningAParent) {
  Start();
  AddQueue("q1", "");
  AddQueue("q11", "q1");
  AddQueue("q111", "q11");
  EXPECT_EQ(Get(api::kQueues, "q1").at("spec").at("parent").as_string(), "root");
  Order("q1", "CloseQueue");
  Run(absl::Seconds(2));
  EXPECT_THAT((std::vector<std::string>{State("q1"), State("q11"), State("q111")}),
              ElementsAre("Closed", "Closed", "Closed"));
  EXPECT_EQ(Get(api::kQueues, "q11").at("metadata").at("annotations").at("volcano.sh/closed-by-parent").as_string(),
            "true");
  Order("q11", "OpenQueue");
  EXPECT_EQ(State("q11"), "Closed");
  EXPECT_THAT(Events(), ::testing::Contains(
                            "CommandIgnored: the queue is not opened while its parent q1 is Closed; open that first"));
  EXPECT_THAT(Names(api::kCommands), IsEmpty());
  Order("q1", "OpenQueue");
  Run(absl::Seconds(2));
  EXPECT_THAT((std::vector<std::string>{State("q1"), State("q11"), State("q111")}),
              ElementsAre("Open", "Open", "Open"));
  EXPECT_EQ(Get(api::kQueues, "q11").at("metadata").at("annotations").at("volcano.sh/closed-by-parent").as_string(),
            "false");
  Run(absl::Seconds(5));
  const int writes = writes_;
  Run(absl::Hours(1));
  EXPECT_EQ(writes_, writes);
}

TEST_F(QueueTreeTest, ACommandForAQueueThatNeverComesIsRemovedAfterAWhile) {
  Start();
  Order("nobody", "CloseQueue");
  EXPECT_THAT(Names(api::kCommands), SizeIs(1));
  Run(absl::Minutes(2));
  EXPECT_THAT(Names(api::kCommands), IsEmpty());
}

}  // namespace
}  // namespace gangway::controller
