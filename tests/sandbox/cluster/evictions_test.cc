// A high priority that comes to a full cluster, on the whole embedded cluster in simulated time.
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/json_value.h"
#include "api/resource.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/sandbox/cluster/cluster_fixture.h"

namespace gangway::sandbox {
namespace {

namespace json = boost::json;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

class EvictionsTest : public ClusterTest {
 protected:
  EvictionsTest() {
    ClusterOptions options;
    options.kubelets.nodes = MakeNodes({*ParseNodeShape("cpu=4,memory=64Gi")}, 2);
    StartWith(std::move(options));
    for (const auto& [name, value] : {std::pair("low", 10), std::pair("high", 100)}) {
      Make(api::PathOf(api::kPriorityClasses, ""),
           absl::StrCat(R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":")", name,
                        R"("},"value":)", value, "}"));
    }
  }
  // Of pods that fill a node each.
  void Apply(const std::string& name, int min_available, int replicas) {
    Make(api::PathOf(api::kJobs, "default"),
         absl::StrCat(R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":")", name,
                      R"("},"spec":{"schedulerName":"volcano","priorityClassName":")", name,
                      R"(","maxRetry":2,"minAvailable":)", min_available,
                      R"(,"policies":[{"event":"PodEvicted","action":"RestartJob"}],)",
                      R"("tasks":[{"name":"w","replicas":)", replicas, R"(,"minAvailable":)", min_available,
                      R"(,"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i",)",
                      R"("resources":{"requests":{"cpu":"4"}}}]}}}]}})"));
  }
  json::value Job(const std::string& name) {
    return *api::ParseJson(*Ask("GET", api::PathOf(api::kJobs, "default", name)).body);
  }
  std::string Phase(const std::string& name) {
    return json::value_to<std::string>(Job(name).at("status").at("state").at("phase"));
  }
  std::int64_t Status(const std::string& name, absl::string_view field) {
    const json::object status = Job(name).at("status").as_object();
    const json::value* const found = status.if_contains({field.data(), field.size()});
    return found == nullptr ? 0 : found->to_number<std::int64_t>();
  }
  // "Evict of Job low": reasons of events, and whom they are about.
  std::vector<std::string> Events() {
    std::vector<std::string> events;
    const json::value list = *api::ParseJson(*Ask("GET", api::PathOf(api::kEvents, "default")).body);
    for (const json::value& event : list.at("items").as_array()) {
      const json::value& about = event.at("involvedObject");
      events.push_back(absl::StrCat(json::value_to<std::string>(event.at("reason")), " of ",
                                    json::value_to<std::string>(about.at("kind")), " ",
                                    json::value_to<std::string>(about.at("name"))));
    }
    return events;
  }
};

TEST_F(EvictionsTest, AHighPriorityDoesNotWaitBehindALowOneThatRuns) {
  Apply("low", 2, 2);
  loop_.RunFor(absl::Seconds(30));
  ASSERT_EQ(Status("low", "running"), 2);
  Apply("high", 2, 2);
  loop_.RunFor(absl::Minutes(2));
  EXPECT_EQ(Status("high", "running"), 2);
  EXPECT_EQ(Status("low", "running"), 0);
  EXPECT_EQ(Phase("low"), "Pending") << "its pods are made anew when it is let in";
  EXPECT_THAT(Events(), Contains("Evict of Job low"));
  EXPECT_THAT(Events(), Contains("Evict of Pod low-w-0"));
  EXPECT_THAT(Events(), Not(Contains(HasSubstr("Evict of Job high"))));
  Ask("DELETE", api::PathOf(api::kJobs, "default", "high"));
  loop_.RunFor(absl::Minutes(2));
  EXPECT_EQ(Status("low", "running"), 2);
  EXPECT_EQ(Phase("low"), "Running");
  EXPECT_EQ(Status("low", "retryCount"), 0) << "nobody's failure";
  EXPECT_EQ(Status("low", "version"), 0) << "no policy answered it";
}

TEST_F(EvictionsTest, OfAnElasticJobOnlyWhatIsBeyondItsMinimumGoes) {
  Apply("low", 1, 2);
  loop_.RunFor(absl::Seconds(30));
  ASSERT_EQ(Status("low", "running"), 2);
  Apply("high", 1, 1);
  loop_.RunFor(absl::Minutes(2));
  EXPECT_EQ(Status("high", "running"), 1);
  EXPECT_EQ(Status("low", "running"), 1);
  EXPECT_EQ(Status("low", "retryCount"), 0);
  EXPECT_THAT(Events(), Contains("Evict of Pod low-w-1"));
  EXPECT_THAT(Events(), Not(Contains("Evict of Pod low-w-0")));
}

}  // namespace
}  // namespace gangway::sandbox
