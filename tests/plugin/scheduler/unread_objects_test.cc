// What cannot be read, or is not read yet.
#include "plugin/scheduler/scheduler.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/simulated_loop.h"
#include "tests/plugin/scheduler/running_scheduler.h"
#include "tests/testing/fake_client.h"

namespace gangway::scheduler {
namespace {

using ::testing::HasSubstr;

// What a scheduler does not know it must not decide without.
TEST(SchedulerObjectsTest, NothingIsDecidedBeforeAllIsRead) {
  for (const std::string plural :
       {"pods", "nodes", "podgroups", "queues", "priorityclasses", "persistentvolumeclaims", "persistentvolumes",
        "storageclasses", "namespaces", "csinodes", "csidrivers", "csistoragecapacities", "volumeattachments"}) {
    SCOPED_TRACE(plural);
    SimulatedLoop loop(1);
    testutil::FakeClient client(loop);
    bool broken = true;
    client.SetHandler([&](const kube::Request& request) -> std::optional<absl::StatusOr<kube::Response>> {
      if (request.method != "GET") return testutil::Reply(request.method == "POST" ? 201 : 200, "{}");
      if (broken && absl::EndsWith(request.path, "/" + plural)) return testutil::Refusal(500, "InternalError");
      if (!absl::EndsWith(request.path, "/podgroups"))
        return testutil::Reply(200, R"({"metadata":{"resourceVersion":"9"},"items":[]})");
      return testutil::Reply(200, R"({"metadata":{"resourceVersion":"9"},"items":[
        {"metadata":{"name":"g","namespace":"ns","uid":"u","resourceVersion":"2"},"spec":{"minMember":1,"queue":"default"}}]})");
    });
    RunningScheduler scheduler(loop, client, {});
    scheduler.Start();
    loop.RunFor(absl::Seconds(5));
    const auto writes = [&] {
      return std::count_if(client.requests().begin(), client.requests().end(),
                           [](const kube::Request& request) { return request.method != "GET"; });
    };
    EXPECT_FALSE(scheduler.synced());
    EXPECT_THAT(scheduler.problem(), HasSubstr(plural));
    EXPECT_EQ(writes(), 0);
    broken = false;
    loop.RunFor(absl::Minutes(1));
    EXPECT_TRUE(scheduler.synced());
    EXPECT_EQ(scheduler.problem(), "");
    EXPECT_GT(writes(), 0);
  }
}

TEST(SchedulerObjectsTest, OfEachResourceWhatDoesNotDecodeIsTold) {
  const std::map<std::string, std::string> bad = {{"pods", R"("spec":[])"},
                                                  {"nodes", R"("spec":[])"},
                                                  {"queues", R"("spec":[])"},
                                                  {"priorityclasses", R"("value":"x")"},
                                                  {"persistentvolumeclaims", R"("spec":[])"},
                                                  {"persistentvolumes", R"("spec":[])"},
                                                  {"storageclasses", R"("volumeBindingMode":[])"},
                                                  {"csinodes", R"("spec":[])"},
                                                  {"csidrivers", R"("spec":[])"},
                                                  {"csistoragecapacities", R"("capacity":[])"},
                                                  {"volumeattachments", R"("spec":[])"}};
  for (const auto& [resource, spec] : bad) {
    SCOPED_TRACE(resource);
    SimulatedLoop loop(1);
    testutil::FakeClient client(loop);
    client.SetHandler([&, plural = resource,
                       member = spec](const kube::Request& request) -> std::optional<absl::StatusOr<kube::Response>> {
      if (request.method != "GET") return testutil::Reply(request.method == "POST" ? 201 : 200, "{}");
      const std::string item =
          absl::StrCat(R"({"metadata":{"name":"bad","uid":"u1","resourceVersion":"1"},)", member, "}");
      return testutil::Reply(200, absl::StrCat(R"({"metadata":{"resourceVersion":"9"},"items":[)",
                                               absl::EndsWith(request.path, "/" + plural) ? item : "", "]}"));
    });
    RunningScheduler scheduler(loop, client, {});
    scheduler.Start();
    loop.RunFor(absl::Seconds(5));
    EXPECT_TRUE(std::any_of(client.requests().begin(), client.requests().end(), [](const kube::Request& request) {
      return absl::EndsWith(request.path, "/events") && absl::StrContains(request.body, "InvalidObject");
    }));
  }
}

// An object that cannot be read gets an event that says so, and the others are scheduled.
TEST(SchedulerObjectsTest, OneThatDoesNotDecodeStopsNobodyElse) {
  SimulatedLoop loop(1);
  testutil::FakeClient client(loop);
  client.SetHandler([](const kube::Request& request) -> std::optional<absl::StatusOr<kube::Response>> {
    if (request.method != "GET") return testutil::Reply(request.method == "POST" ? 201 : 200, "{}");
    if (!absl::EndsWith(request.path, "/podgroups"))
      return testutil::Reply(200, R"({"metadata":{"resourceVersion":"9"},"items":[]})");
    return testutil::Reply(200, R"({"metadata":{"resourceVersion":"9"},"items":[
      {"metadata":{"name":"bad","namespace":"ns","uid":"u1","resourceVersion":"1"},"spec":{"minMember":"many"}},
      {"metadata":{"name":"good","namespace":"ns","uid":"u2","resourceVersion":"2"},"spec":{"minMember":1,"queue":"default"}}]})");
  });
  RunningScheduler scheduler(loop, client, {});
  scheduler.Start();
  loop.RunFor(absl::Seconds(5));
  std::vector<std::string> events;
  bool good_written = false;
  for (const kube::Request& request : client.requests()) {
    if (absl::EndsWith(request.path, "/events") && absl::StrContains(request.body, "InvalidObject"))
      events.push_back(request.body);
    if (request.method == "PATCH" && absl::EndsWith(request.path, "/podgroups/good")) good_written = true;
  }
  ASSERT_EQ(events.size(), 1u);
  EXPECT_THAT(events[0], ::testing::AllOf(HasSubstr(R"("name":"bad")"), HasSubstr("spec.minMember"),
                                          HasSubstr("cannot be read and is ignored")));
  EXPECT_TRUE(good_written);
}

}  // namespace
}  // namespace gangway::scheduler
