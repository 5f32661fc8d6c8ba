#include "plugin/lifecycle/reconcile_queue.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gangway::lifecycle {
namespace {

using api::volcano::Command;
using api::volcano::Queue;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Command Make(const std::string& action) {
  Command command;
  command.metadata.name = "c";
  command.metadata.ns = "default";
  command.metadata.uid = "command-uid";
  command.action = action;
  return command;
}

// The state machine of spec 7.1, row by row.
struct Row {
  std::string state, action;
  int groups;
  std::string after;
};
TEST(QueueTest, States) {
  for (const Row& row : {Row{"", "", 0, "Open"}, Row{"Open", "", 3, "Open"}, Row{"Open", "OpenQueue", 3, "Open"},
                         Row{"Open", "CloseQueue", 0, "Closed"}, Row{"Open", "CloseQueue", 2, "Closing"}, Row{"", "CloseQueue", 2, "Closing"},
                         Row{"Closing", "", 1, "Closing"}, Row{"Closing", "", 0, "Closed"}, Row{"Closing", "OpenQueue", 1, "Open"},
                         Row{"Closed", "", 0, "Closed"}, Row{"Closed", "CloseQueue", 1, "Closed"}, Row{"Closed", "OpenQueue", 0, "Open"},
                         Row{"Unknown", "", 0, "Unknown"}, Row{"Unknown", "OpenQueue", 0, "Open"}, Row{"Unknown", "CloseQueue", 1, "Closing"}}) {
    Queue queue;
    queue.metadata.name = "q";
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
  QueueView view;
  view.queue = &queue;
  for (const char* phase : {"", "Pending", "Inqueue", "Running", "Running", "Unknown", "Completed"}) view.groups.Add(phase);
  const kube::Plan plan = ReconcileQueue(view);
  ASSERT_EQ(plan.stages.size(), 1u);
  EXPECT_EQ(plan.stages[0][0].body,
            R"({"status":{"state":"Open","unknown":1,"pending":2,"running":2,"inqueue":1,"completed":1}})");
  queue.status.state = "Open";
  queue.status.unknown = 1;
  queue.status.pending = 2;
  queue.status.running = 2;
  queue.status.inqueue = 1;
  queue.status.completed = 1;
  EXPECT_TRUE(ReconcileQueue(view).empty());
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

}  // namespace
}  // namespace gangway::lifecycle
