#include "plugin/lifecycle/queue/reconcile_queue.h"

#include <algorithm>
#include <map>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gangway::lifecycle {
namespace {

using api::volcano::Command;
using api::volcano::Queue;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Command Make(const std::string& action) {
  Command command;
  command.metadata.name = "c";
  command.metadata.ns = "default";
  command.metadata.uid = "command-uid";
  command.action = action;
  return command;
}

// The state machine of a Queue, row by row (Volcano: pkg/controllers/queue/state).
struct Row {
  std::string state, action;
  int groups;
  std::string after;
};
TEST(QueueTest, Q1Q2Q3Q5States) {
  for (const Row& row :
       {Row{"", "", 0, "Open"}, Row{"Open", "", 3, "Open"}, Row{"Open", "OpenQueue", 3, "Open"},
        Row{"Open", "CloseQueue", 0, "Closed"}, Row{"Open", "CloseQueue", 2, "Closing"},
        Row{"", "CloseQueue", 2, "Closing"}, Row{"Closing", "", 1, "Closing"}, Row{"Closing", "", 0, "Closed"},
        Row{"Closing", "OpenQueue", 1, "Open"}, Row{"Closed", "", 0, "Closed"},
        Row{"Closed", "CloseQueue", 1, "Closed"}, Row{"Closed", "OpenQueue", 0, "Open"},
        Row{"Unknown", "", 0, "Unknown"}, Row{"Unknown", "OpenQueue", 0, "Open"},
        Row{"Unknown", "CloseQueue", 1, "Closing"}, Row{"Unknown", "CloseQueue", 0, "Closed"},
        Row{"Open", "CloseQueue", 3, "Closing"}, Row{"Strange", "", 0, "Unknown"}}) {
    Queue queue;
    queue.metadata.name = "q";
    queue.spec.parent = "root";
    queue.status.state = row.state;
    queue.status.running = row.groups;
    const Command command = Make(row.action);
    QueueView view;
    view.queue = &queue;
    for (int i = 0; i < row.groups; ++i) view.groups.Add("Running");
    if (!row.action.empty()) view.commands.push_back(&command);
    const kube::Plan plan = ReconcileQueue(view);
    std::string state = row.state;
    for (const auto& stage : plan.stages) {
      for (const kube::Write& write : stage) {
        if (write.subresource == "status") {
          EXPECT_THAT(write.body, HasSubstr("\"state\":\"" + row.after + "\""));
          state = row.after;
        }
      }
    }
    EXPECT_EQ(state, row.after) << row.state << " " << row.action << " " << row.groups;
    if (row.action.empty()) continue;
    EXPECT_EQ(plan.stages.back()[0].verb, kube::Verb::kDelete) << "the command goes after the state is written";
  }
}

TEST(QueueTest, CountsByPhaseAndQuietWhenTheyHold) {
  Queue queue;
  queue.metadata.name = "q";
  queue.spec.parent = "root";
  QueueView view;
  view.queue = &queue;
  for (const char* phase : {"", "Pending", "Inqueue", "Running", "Running", "Unknown", "Completed"})
    view.groups.Add(phase);
  const kube::Plan plan = ReconcileQueue(view);
  ASSERT_EQ(plan.stages.size(), 1u);
  EXPECT_EQ(
      plan.stages[0][0].body,
      R"({"status":{"state":"Open","unknown":1,"pending":2,"running":2,"inqueue":1,"completed":1,"allocated":{}}})");
  queue.status.allocated["cpu"] = api::Quantity();
  EXPECT_THAT(ReconcileQueue(view).stages[0][0].body, Not(HasSubstr("allocated"))) << "the scheduler has written it";
  queue.status.state = "Open";
  queue.status.unknown = 1;
  queue.status.pending = 2;
  queue.status.running = 2;
  queue.status.inqueue = 1;
  queue.status.completed = 1;
  EXPECT_TRUE(ReconcileQueue(view).empty());
}

// The scheduler, too, writes of the status what is its own, often.
TEST(QueueTest, CountsAloneAreOfAnyVersion) {
  Queue queue;
  queue.metadata.name = "q";
  queue.metadata.resource_version = "7";
  queue.spec.parent = "root";
  queue.status.state = "Open";
  QueueView view;
  view.queue = &queue;
  view.groups.Add("Running");
  const kube::Write counts = ReconcileQueue(view).stages.at(0).at(0);
  EXPECT_EQ(counts.resource_version, "");
  EXPECT_THAT(counts.body, Not(HasSubstr("state")));
  queue.status.state = "Closing";
  EXPECT_EQ(ReconcileQueue(view).stages.at(0).at(0).resource_version, "");
  view.groups = {};
  EXPECT_EQ(ReconcileQueue(view).stages.at(0).at(0).resource_version, "7") << "it closes";
}

TEST(QueueTest, RootIsNotClosed) {
  Queue queue;
  queue.metadata.name = "root";
  queue.status.state = "Open";
  const Command command = Make("CloseQueue");
  QueueView view;
  view.queue = &queue;
  view.commands = {&command};
  const kube::Plan plan = ReconcileQueue(view);
  ASSERT_EQ(plan.stages.size(), 1u);
  EXPECT_EQ(plan.stages[0][0].verb, kube::Verb::kDelete);
  EXPECT_EQ(plan.events[0].reason, "CommandIgnored");
}

// Queues by name; plans are carried out on them write by write, and any write may be the last before a restart.
class Tree {
 public:
  Queue& Add(const std::string& name, const std::string& parent, const std::string& state = "Open") {
    Queue& queue = queues_[name];
    queue.metadata.name = name;
    queue.spec.parent = parent;
    queue.status.state = state;
    return queue;
  }
  const Queue& at(const std::string& name) const { return queues_.at(name); }
  std::string State(const std::string& name) const {
    auto mark = at(name).metadata.annotations.find("volcano.sh/closed-by-parent");
    return at(name).status.state + (mark == at(name).metadata.annotations.end() ? ""
                                    : mark->second == "true"                    ? " marked"
                                                                                : " unmarked");
  }
  void Order(const std::string& queue, const std::string& action) {
    Command command = Make(action);
    command.metadata.name = action + std::to_string(commands_.size());
    commands_.push_back({queue, command});
  }
  bool OrderWaits() const { return !commands_.empty(); }
  const std::vector<std::string>& events() const { return events_; }

  // Until nothing is written any more, queues in the order of their names or backwards; at most `writes`.
  void Run(bool backwards = false, int writes = 1000) {
    for (bool wrote = true; wrote && writes > 0;) {
      wrote = false;
      std::vector<std::string> names;
      for (const auto& [name, queue] : queues_) names.push_back(name);
      if (backwards) std::reverse(names.begin(), names.end());
      for (const std::string& name : names) wrote = Step(name, writes) || wrote;
    }
  }

 private:
  bool Step(const std::string& name, int& writes) {
    QueueView view;
    view.queue = &queues_.at(name);
    if (auto parent = queues_.find(std::string(ParentOf(*view.queue))); parent != queues_.end())
      view.parent = &parent->second;
    for (const auto& [queue, command] : commands_) {
      if (queue == name) view.commands.push_back(&command);
    }
    const kube::Plan plan = ReconcileQueue(view);
    for (const auto& stage : plan.stages) {
      for (const kube::Write& write : stage) {
        if (writes-- <= 0) return true;
        Apply(write);
      }
    }
    for (const kube::EventNote& note : plan.events) events_.push_back(note.message);
    return !plan.stages.empty();
  }
  void Apply(const kube::Write& write) {
    if (write.verb == kube::Verb::kDelete) {
      std::erase_if(commands_, [&](const auto& entry) { return entry.second.metadata.name == write.name; });
      return;
    }
    Queue& queue = queues_.at(write.name);
    const Queue patch = *api::Decode<Queue>(write.body);
    if (write.subresource == "status") queue.status.state = patch.status.state;
    for (const auto& [key, value] : patch.metadata.annotations) queue.metadata.annotations[key] = value;
    if (!patch.spec.parent.empty()) queue.spec.parent = patch.spec.parent;
  }

  std::map<std::string, Queue> queues_;
  std::vector<std::pair<std::string, Command>> commands_;
  std::vector<std::string> events_;
};

Tree Family() {
  Tree tree;
  tree.Add("root", "");
  tree.Add("q1", "root");
  tree.Add("q11", "q1");
  tree.Add("q12", "q1", "Closed");  // by a person
  tree.Add("q111", "q11");
  return tree;
}

TEST(QueueTreeTest, Q4ClosingTakesTheOpenQueuesBelowAlong) {
  Tree tree = Family();
  tree.Order("q1", "CloseQueue");
  tree.Run();
  EXPECT_EQ(tree.State("q1"), "Closed");
  EXPECT_EQ(tree.State("q11"), "Closed marked");
  EXPECT_EQ(tree.State("q111"), "Closed marked");
  EXPECT_EQ(tree.State("q12"), "Closed");
  EXPECT_EQ(tree.State("root"), "Open");
  tree.Order("q11", "OpenQueue");
  tree.Run();
  EXPECT_EQ(tree.State("q11"), "Closed marked");
  EXPECT_EQ(tree.events().back(), "the queue is not opened while its parent q1 is Closed; open that first");
  EXPECT_FALSE(tree.OrderWaits()) << "a refused command is consumed too";
  tree.Order("q1", "OpenQueue");
  tree.Run();
  EXPECT_EQ(tree.State("q1"), "Open");
  EXPECT_EQ(tree.State("q11"), "Open unmarked");
  EXPECT_EQ(tree.State("q111"), "Open unmarked");
  EXPECT_EQ(tree.State("q12"), "Closed") << "its parent did not close it";
}

TEST(QueueTreeTest, StoppedAfterAnyWriteItEndsTheSame) {
  for (const bool backwards : {false, true}) {
    for (int writes = 0; writes < 12; ++writes) {
      Tree tree = Family();
      tree.Order("q1", "CloseQueue");
      tree.Run(backwards, writes);
      tree.Run(!backwards);
      EXPECT_EQ(tree.State("q111"), "Closed marked") << writes;
      EXPECT_FALSE(tree.OrderWaits());
      tree.Order("q1", "OpenQueue");
      tree.Run(backwards, writes);
      tree.Run(!backwards);
      EXPECT_EQ(tree.State("q1"), "Open");
      EXPECT_EQ(tree.State("q11"), "Open unmarked");
      EXPECT_EQ(tree.State("q111"), "Open unmarked");
      EXPECT_EQ(tree.State("q12"), "Closed");
    }
  }
}

TEST(QueueTreeTest, AQueueWithoutAParentIsPutBelowRoot) {
  Tree tree;
  tree.Add("root", "", "");
  tree.Add("q", "", "");
  tree.Run();
  EXPECT_EQ(tree.at("q").spec.parent, "root");
  EXPECT_EQ(tree.at("root").spec.parent, "");
  EXPECT_EQ(tree.State("q"), "Open");
}

TEST(QueueTreeTest, AQueueMadeBelowAClosedOneIsClosedWithIt) {
  Tree tree = Family();
  tree.Order("q1", "CloseQueue");
  tree.Run();
  tree.Add("late", "q11", "");
  tree.Run();
  EXPECT_EQ(tree.State("late"), "Closed marked");
  tree.Order("q1", "OpenQueue");
  tree.Run();
  EXPECT_EQ(tree.State("late"), "Open unmarked");
}

TEST(QueueTreeTest, WhatAQueueDoesNotDoIsSaid) {
  Tree tree = Family();
  tree.Order("q1", "Abolish");
  tree.Order("root", "CloseQueue");
  tree.Run();
  EXPECT_FALSE(tree.OrderWaits());
  EXPECT_EQ(tree.State("root"), "Open");
  EXPECT_THAT(tree.events(), ::testing::UnorderedElementsAre(HasSubstr("Abolish is nothing that a queue does"),
                                                             HasSubstr("root queue cannot be closed")));
}

}  // namespace
}  // namespace gangway::lifecycle
