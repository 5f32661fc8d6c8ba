// What a Job costs the API server: the controllers' writes over its life.
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/resource.h"
#include "base/check.h"
#include "base/simulated_loop.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sandbox/cluster/cluster.h"

namespace gangway::sandbox {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

const std::string kPod =
    R"({"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]}})";

// An embedded cluster whose every write is told to the test.
class WatchedCluster {
 public:
  WatchedCluster(int nodes, const std::vector<std::string>& failures,
                 std::function<void(const JournalRecord&)> on_record) {
    ClusterOptions options;
    options.kubelets.nodes = MakeNodes({*ParseNodeShape("")}, nodes);
    options.kubelets.behaviour = *Behaviour::Parse({"trainer=60s"}, failures);
    options.api_server.journal = std::move(on_record);
    cluster_ = std::make_unique<Cluster>(loop_, std::move(options));
    user_ = cluster_->NewClient("user");
    cluster_->Start();
    loop_.RunFor(absl::Seconds(1));
  }
  void Apply(const std::string& name, const std::string& spec) {
    Create(api::kJobs, absl::StrCat(R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":")",
                                    name, R"("},"spec":{"schedulerName":"volcano",)", spec, "}}"));
  }
  void Create(const api::Resource& resource, std::string body) {
    user_->Send({"POST", api::PathOf(resource, "default"), "", "application/json", "", std::move(body)}, owner_.token(),
                [](const absl::StatusOr<kube::Response>& reply) { GW_CHECK(reply.ok() && reply->ok()); });
  }
  bool Is(absl::string_view name, absl::string_view phase) {
    const kube::Response reply = cluster_->api_server().Handle(
        {"GET", api::PathOf(api::kJobs, "default", std::string(name)), "", "", "", ""}, {"test"});
    return absl::StrContains(*reply.body, absl::StrCat(R"("phase":")", phase, "\""));
  }
  SimulatedLoop& loop() { return loop_; }

 private:
  SimulatedLoop loop_{1};
  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<kube::Client> user_;
  Owner owner_;
};

std::string NameOf(const JournalRecord& record) {
  return absl::StrCat(record.verb, " ", std::string(record.resource->plural), record.subresource.empty() ? "" : "/",
                      record.subresource);
}

struct Writes {
  int created = 0, deleted = 0, others = 0;  // events are others
  std::map<std::string, int> by_what;        // of the others
};

struct Life {
  int pods, restarts;
};

class WritesTest : public ::testing::TestWithParam<Life> {
 protected:
  static std::vector<std::string> Failures() {
    if (GetParam().restarts == 0) return {};
    return {absl::StrCat("trainer-1=30s:137x", GetParam().restarts)};
  }

  void Tell(const JournalRecord& record) {
    if (record.client != ClientName(Component::kControllers)) return;
    if (record.verb == "create" && record.resource != &api::kEvents) {
      ++writes_.created;
    } else if (record.verb == "delete") {
      ++writes_.deleted;
    } else {
      ++writes_.others;
      ++writes_.by_what[NameOf(record)];
    }
  }

  // Half of its pods are servers; a trainer that fails restarts it.
  void Apply(int pods) {
    cluster_.Apply(
        "ctr",
        absl::StrCat(
            R"("minAvailable":)", pods,
            R"(,"policies":[{"event":"PodFailed","action":"RestartJob"}],"plugins":{"env":[],"svc":[]},"tasks":[{"name":"pserver","replicas":)",
            pods / 2, R"(,"template":)", kPod, R"(},{"name":"trainer","replicas":)", pods - pods / 2,
            R"(,"policies":[{"event":"TaskCompleted","action":"CompleteJob"}],"template":)", kPod, "}]"));
  }

  Writes writes_;
  WatchedCluster cluster_{20, Failures(), [this](const JournalRecord& record) { Tell(record); }};
};

// PodGroup, Service, ConfigMap, NetworkPolicy and the pods, made and removed; what status and events say on the way is
// bounded for each incarnation.
TEST_P(WritesTest, AreBoundedAndNoneWhenNothingHappens) {
  const int incarnations = GetParam().restarts + 1;
  writes_ = {};
  Apply(GetParam().pods);
  SimulatedLoop& loop = cluster_.loop();
  ASSERT_TRUE(loop.RunUntil([&] { return cluster_.Is("ctr", "Completed"); }, loop.Now() + absl::Minutes(10)));
  loop.RunFor(absl::Minutes(1));
  std::string others;
  for (const auto& [what, count] : writes_.by_what) absl::StrAppend(&others, what, " ", count, "\n");
  EXPECT_EQ(writes_.created, incarnations * (GetParam().pods + 1) + 3);
  EXPECT_LE(writes_.deleted, writes_.created);
  EXPECT_LE(writes_.others, incarnations * 12) << others;
  writes_ = {};
  loop.RunFor(absl::Hours(2));
  EXPECT_EQ(writes_.created + writes_.deleted + writes_.others, 0);
}

INSTANTIATE_TEST_SUITE_P(Pods, WritesTest, ::testing::Values(Life{4, 0}, Life{4, 1}, Life{300, 0}));

// Until its last pod is bound a Job costs, beside what kubelets say: itself, its PodGroup and that its gang is let in,
// its pods and their bindings, and one status that tells of them. That it runs and what events say comes later.
class WritesUntilBoundTest : public ::testing::Test {
 protected:
  // Of all of so many Jobs of so many pods that come at once, each until its own last pod is bound.
  std::map<std::string, int> Of(int jobs, int pods) {
    pods_ = pods;
    for (int i = 0; i < jobs; ++i) {
      const std::string name = absl::StrCat("j", i);
      bound_[name] = 0;
      cluster_.Apply(name, absl::StrCat(R"("minAvailable":)", pods, R"(,"tasks":[{"name":"trainer","replicas":)", pods,
                                        R"(,"template":)", kPod, "}]"));
    }
    SimulatedLoop& loop = cluster_.loop();
    EXPECT_TRUE(loop.RunUntil([&] { return whole_ == jobs; }, loop.Now() + absl::Minutes(1)));
    return seen_;
  }

 private:
  // The objects of j7 are j7-..., its events j7....
  void Tell(const JournalRecord& record) {
    const auto job = bound_.find(record.key.name.substr(0, record.key.name.find_first_of("-.")));
    if (job == bound_.end() || job->second == pods_ || record.client == ClientName(Component::kKubelets)) return;
    ++seen_[absl::StrCat(record.client, " ", NameOf(record))];
    if (record.subresource == "binding" && ++job->second == pods_) ++whole_;
  }
  std::map<std::string, int> bound_, seen_;
  int pods_ = 0, whole_ = 0;
  WatchedCluster cluster_{20, {}, [this](const JournalRecord& record) { Tell(record); }};
};

TEST_F(WritesUntilBoundTest, AreSixOfAJobOfOnePod) {
  EXPECT_THAT(Of(1, 1), ElementsAre(Pair("controllers create podgroups", 1), Pair("controllers create pods", 1),
                                    Pair("controllers patch jobs/status", 1), Pair("scheduler create pods/binding", 1),
                                    Pair("scheduler patch podgroups", 1), Pair("user create jobs", 1)));
}

TEST_F(WritesUntilBoundTest, AreTwoMoreForEachPodMore) {
  EXPECT_THAT(Of(1, 10),
              ElementsAre(Pair("controllers create podgroups", 1), Pair("controllers create pods", 10),
                          Pair("controllers patch jobs/status", 1), Pair("scheduler create pods/binding", 10),
                          Pair("scheduler patch podgroups", 1), Pair("user create jobs", 1)));
}

TEST_F(WritesUntilBoundTest, AreNoMoreForJobsThatComeTogether) {
  EXPECT_THAT(Of(100, 1),
              ElementsAre(Pair("controllers create podgroups", 100), Pair("controllers create pods", 100),
                          Pair("controllers patch jobs/status", 100), Pair("scheduler create pods/binding", 100),
                          Pair("scheduler patch podgroups", 100), Pair("user create jobs", 100)));
}

// Gangs of one whose pods are there before their PodGroups: a binding each, and one write that says all of it.
class WritesOfPodsThatAreThereTest : public ::testing::Test {
 protected:
  void Apply(int gangs) {
    for (int i = 0; i < gangs; ++i) {
      cluster_.Create(
          api::kPods,
          absl::StrCat(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p)", i,
                       R"(","annotations":{"scheduling.k8s.io/group-name":"g)", i,
                       R"("}},"spec":{"schedulerName":"volcano","containers":[{"name":"c","image":"i"}]}})"));
    }
    cluster_.loop().RunFor(absl::Seconds(1));
    for (int i = 0; i < gangs; ++i) {
      cluster_.Create(api::kPodGroups,
                      absl::StrCat(R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":)",
                                   R"({"name":"g)", i, R"("},"spec":{"minMember":1,"queue":"default"}})"));
    }
  }
  int bound_ = 0, groups_before_ = 0, groups_after_ = 0;  // PodGroups, before and after the last pod was bound
  int gangs_ = 0;

 private:
  void Tell(const JournalRecord& record) {
    if (record.client != ClientName(Component::kScheduler)) return;
    if (record.subresource == "binding") ++bound_;
    if (record.resource == &api::kPodGroups) ++(bound_ < gangs_ ? groups_before_ : groups_after_);
  }

 protected:
  WatchedCluster cluster_{20, {}, [this](const JournalRecord& record) { Tell(record); }};
};

TEST_F(WritesOfPodsThatAreThereTest, AreOneOfAGangOfOne) {
  Apply(gangs_ = 1);
  cluster_.loop().RunFor(absl::Milliseconds(100));
  EXPECT_EQ(bound_, 1);
  EXPECT_EQ(groups_before_, 0);
  EXPECT_EQ(groups_after_, 1) << "Running and Scheduled";
}

TEST_F(WritesOfPodsThatAreThereTest, ComeAfterTheBindingsOfManyThatComeTogether) {
  Apply(gangs_ = 100);
  cluster_.loop().RunFor(absl::Milliseconds(100));
  EXPECT_EQ(bound_, 100);
  EXPECT_LT(groups_before_, 10) << "while no binding was under way";
  EXPECT_EQ(groups_before_ + groups_after_, 100);
}

}  // namespace
}  // namespace gangway::sandbox
