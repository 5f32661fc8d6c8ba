#include "plugin/controller/admission_facts.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gangway::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

api::volcano::Queue QueueOf(const std::string& name, const std::string& parent, const std::string& state = "Open") {
  api::volcano::Queue queue;
  queue.metadata.name = name;
  queue.spec.parent = parent;
  queue.status.state = state;
  return queue;
}

class AdmissionFactsTest : public ::testing::Test {
 protected:
  void Set(const api::volcano::Queue& queue) { facts_.SetQueue(queue.metadata.name, &queue); }
  std::vector<std::string> ChildrenOf(const std::string& name) const {
    return facts_.Queue(name).value_or(api::volcano::QueueFacts()).children;
  }

  AdmissionFacts facts_;
};

TEST_F(AdmissionFactsTest, AQueueIsAsItWasToldLast) {
  EXPECT_FALSE(facts_.Queue("ads").has_value());
  api::volcano::Queue ads = QueueOf("ads", "", "Closed");
  ads.status.allocated["pods"] = *api::Quantity::Parse("7");
  Set(ads);
  EXPECT_EQ(facts_.Queue("ads")->state, "Closed");
  EXPECT_EQ(facts_.Queue("ads")->allocated_pods, 7);
  Set(QueueOf("ads", ""));
  EXPECT_EQ(facts_.Queue("ads")->state, "Open");
  EXPECT_EQ(facts_.Queue("ads")->allocated_pods, 0);
  facts_.SetQueue("ads", nullptr);
  EXPECT_FALSE(facts_.Queue("ads").has_value());
  facts_.SetQueue("ads", nullptr);
}

TEST_F(AdmissionFactsTest, ChildrenComeBeforeAndAfterTheirParentsAndMove) {
  Set(QueueOf("b", "team"));
  Set(QueueOf("team", ""));
  Set(QueueOf("a", "team"));
  Set(QueueOf("root", ""));
  EXPECT_THAT(ChildrenOf("team"), ElementsAre("a", "b"));
  EXPECT_THAT(ChildrenOf("root"), ElementsAre("team")) << "whose parent is not said; and it is not its own";
  Set(QueueOf("b", "root"));
  EXPECT_THAT(ChildrenOf("team"), ElementsAre("a"));
  EXPECT_THAT(ChildrenOf("root"), ElementsAre("b", "team"));
  facts_.SetQueue("a", nullptr);
  EXPECT_THAT(ChildrenOf("team"), IsEmpty());
}

TEST_F(AdmissionFactsTest, ANamespacesQueueAndWhetherAllIsTold) {
  EXPECT_EQ(facts_.NamespaceQueue("team"), "");
  facts_.SetNamespace("team", "ads");
  EXPECT_EQ(facts_.NamespaceQueue("team"), "ads");
  facts_.SetNamespace("team", std::nullopt);
  EXPECT_EQ(facts_.NamespaceQueue("team"), "");
  EXPECT_FALSE(facts_.complete());
  facts_.SetComplete();
  EXPECT_TRUE(facts_.complete());
}

}  // namespace
}  // namespace gangway::controller
