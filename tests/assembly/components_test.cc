#include "assembly/components.h"

#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <boost/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/json_value.h"
#include "api/manifest/manifest.h"
#include "api/paddle_resources.h"
#include "api/volcano/hyper_node.h"
#include "base/simulated_loop.h"
#include "base/strings.h"
#include "gmock/gmock.h"
#include "sandbox/cluster/cluster.h"
#include "tests/testing/fake_client.h"

namespace gangway::assembly {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
namespace json = boost::json;

constexpr char kPaddleJob[] =
    R"({"apiVersion":"batch.paddlepaddle.org/v1","kind":"PaddleJob","metadata":{"name":"wd"},"spec":{"cleanPodPolicy":"Always",
  "worker":{"replicas":2,"template":{"spec":{"containers":[{"name":"p","image":"i"}]}}}}})";

std::string NameOf(const api::Resource& resource, absl::string_view subresource = "") {
  return absl::StrCat(View(resource.group), "/", View(resource.plural), subresource.empty() ? "" : "/", subresource);
}

TEST(ComponentsTest, EachHasANameAndAProcess) {
  std::set<std::string> names;
  for (const ComponentRow& row : AllComponents()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_THAT(kProcesses, ::testing::Contains(::testing::Field(&ProcessRow::name, row.process))) << row.name;
  }
  EXPECT_THAT(Reconcilers(), ElementsAre("cronjob", "hypernode", "job", "jobflow", "paddlejob", "podgroup", "queue"));
}

// Or it would decide otherwise than the scheduler does.
TEST(ComponentsTest, AShadowReadsWhatTheSchedulerReads) {
  SimulatedLoop loop(1);
  testutil::FakeClient client(loop);
  const auto read = [&](bool shadow) {
    std::set<std::string> out;
    Options options;
    options.shadow = shadow;
    for (const ComponentRow& row : AllComponents()) {
      if (row.process != kScheduler.name) continue;
      kube::Informers informers(loop, client);
      const auto component = row.make(informers, options);
      for (const kube::AnyInformer* const informer : component->watched())
        out.insert(NameOf(informer->resource()) + " " + informer->options().label_selector +
                   informer->options().field_selector);
    }
    return out;
  };
  const std::set<std::string> of_scheduler = read(false);
  EXPECT_THAT(of_scheduler, ::testing::Contains("storage.k8s.io/csistoragecapacities "));
  EXPECT_EQ(read(true), of_scheduler);
}

TEST(ComponentsTest, OnlyThoseAskedForAreMade) {
  SimulatedLoop loop(1);
  testutil::FakeClient client(loop);
  Options options;
  options.only = {"queue"};
  options.admission_facts = std::make_shared<controller::AdmissionFacts>();
  options.label_source = std::make_shared<controller::LiveLabelSource>(lifecycle::LabelSource{true, {}});
  EXPECT_EQ(
      MakeComponents(loop, client, {"controllers", "paddle-controllers"}, options)->Dump(),
      R"({"caches":{"commands":0,"namespaces":0,"podgroups":0,"queues":0},"controllers":{"queue":{"queuedKeys":0,"plansUnderWay":0}},"eventsWaiting":0})");
}

// One watch of one resource in a process: what is selected by nothing is watched once, and what is selected otherwise
// is no part of that.
TEST(ComponentsTest, NothingIsListedTwice) {
  SimulatedLoop loop(1);
  testutil::FakeClient client(loop);
  client.SetHandler(
      [](const kube::Request&) { return testutil::Reply(200, R"({"metadata":{"resourceVersion":"1"},"items":[]})"); });
  Options options;
  options.admission_facts = std::make_shared<controller::AdmissionFacts>();
  options.label_source = std::make_shared<controller::LiveLabelSource>(lifecycle::LabelSource{true, {}});
  const auto components = MakeComponents(loop, client, {"controllers", "paddle-controllers"}, options);
  components->Start();
  loop.RunFor(absl::Seconds(1));
  ASSERT_TRUE(components->synced());
  std::map<std::string, std::vector<std::string>> queries;
  for (const kube::Request& request : client.requests()) {
    if (request.method == "GET") queries[request.path].push_back(request.query);
  }
  EXPECT_EQ(client.watches(), 24u);
  for (const auto& [path, all] : queries) {
    EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), all.size()) << path;
    EXPECT_EQ(all.size(), path == "/api/v1/events" ? 2u : 1u) << path << ": only of events there are two selections";
  }
}

// What `gangway snapshot` writes down: no other list says what is read.
TEST(ComponentsTest, AllThatIsReadIsOneList) {
  SimulatedLoop loop(1);
  testutil::FakeClient client(loop);
  std::map<const api::Resource*, Reads> reads;
  for (Reads& one : AllReads(loop, client, {})) EXPECT_TRUE(reads.emplace(one.resource, one).second);
  EXPECT_THAT(client.requests(), IsEmpty());
  for (const api::Resource* const resource :
       {&api::kNodes, &api::kPods, &api::kPodGroups, &api::kQueues, &api::kJobs, &api::kPriorityClasses,
        &api::volcano::kHyperNodes, &api::kResourceQuotas, &api::kPersistentVolumeClaims, &api::paddle::kPaddleJobs}) {
    ASSERT_TRUE(reads.contains(resource)) << resource->plural;
    EXPECT_THAT(reads.at(resource).selections, IsEmpty()) << resource->plural << ": all of them";
  }
  EXPECT_THAT(reads.at(&api::kEvents).selections, Not(IsEmpty())) << "only those of some objects";
}

std::string FileText(const std::string& path) {
  std::ifstream in(absl::StrCat(GW_SOURCE_DIR, "/", path));
  return {std::istreambuf_iterator<char>(in), {}};
}

// --- The roles that are shipped.

using Verbs = std::map<std::string, std::set<std::string>>;  // by group/resource

void ReadRules(const std::string& file, Verbs& verbs) {
  const auto documents = api::ReadManifest(FileText(absl::StrCat("deploy/volcano/", file)), file);
  ASSERT_TRUE(documents.ok()) << documents.status();
  for (const auto& document : *documents) {
    const json::value object = *api::ParseJson(document.json);
    if (object.at("kind") != "ClusterRole" && object.at("kind") != "Role") continue;
    for (const json::value& rule : object.at("rules").as_array()) {
      for (const json::value& group : rule.at("apiGroups").as_array()) {
        for (const json::value& resource : rule.at("resources").as_array()) {
          for (const json::value& verb : rule.at("verbs").as_array()) {
            verbs[absl::StrCat(View(group.as_string()), "/", View(resource.as_string()))].insert(
                std::string(verb.as_string()));
          }
        }
      }
    }
  }
}

// What those of these processes need: to list and watch, and to write.
Verbs NeededBy(const std::vector<absl::string_view>& processes) {
  SimulatedLoop loop(1);
  testutil::FakeClient client(loop);
  Verbs needed;
  for (const ComponentRow& row : AllComponents()) {
    if (std::find(processes.begin(), processes.end(), row.process) == processes.end()) continue;
    kube::Informers informers(loop, client);
    Options options;
    options.admission_facts = std::make_shared<controller::AdmissionFacts>();
    options.label_source = std::make_shared<controller::LiveLabelSource>(lifecycle::LabelSource{true, {}});
    options.notifications = std::make_shared<const Options::Notifications>();
    const auto component = row.make(informers, options);
    for (const kube::AnyInformer* const informer : component->watched()) {
      for (const char* const verb : {"list", "watch"}) needed[NameOf(informer->resource())].insert(verb);
    }
    for (const Writes& writes : row.writes) {
      for (const absl::string_view verb : absl::StrSplit(writes.verbs, ' '))
        needed[NameOf(*writes.resource, writes.subresource)].insert(std::string(verb));
    }
  }
  return needed;
}

void Compare(const Verbs& needed, const Verbs& given) {
  for (const auto& [resource, verbs] : needed) {
    for (const std::string& verb : verbs)
      EXPECT_TRUE(given.contains(resource) && given.at(resource).contains(verb))
          << "may not " << verb << " " << resource;
  }
  for (const auto& [resource, verbs] : given) {
    if (resource == "/events" || resource == "coordination.k8s.io/leases" || absl::EndsWith(resource, "/finalizers"))
      continue;
    for (const std::string& verb : verbs) {
      const bool used = verb == "get" || (needed.contains(resource) && needed.at(resource).contains(verb));
      EXPECT_TRUE(used) << "nobody needs to " << verb << " " << resource;
    }
  }
}

TEST(ShippedRolesTest, TheControllersMayDoWhatTheyDoAndNoMore) {
  Verbs given;
  ReadRules("base/controller-rbac.yaml", given);
  Compare(NeededBy({"controllers", "paddle-controllers"}), given);
}

TEST(ShippedRolesTest, TheSchedulerMayDoWhatItDoesAndNoMore) {
  Verbs given;
  ReadRules("base/scheduler-rbac.yaml", given);
  Compare(NeededBy({"scheduler"}), given);
}

// Reading, and nothing else, not even what every other role may: events and leases.
TEST(ShippedRolesTest, AShadowMayReadWhatItReadsAndNoMore) {
  Verbs given, needed;
  ReadRules("overlays/shadow/shadow-rbac.yaml", given);
  for (const auto& [resource, verbs] : NeededBy({"scheduler"})) {
    if (verbs.contains("list")) needed[resource] = {"list", "watch"};
  }
  EXPECT_EQ(given, needed);
}

TEST(ShippedRolesTest, BesideVolcanoTheControllerOfPaddleJobsMayDoWhatItDoesAndNoMore) {
  Verbs given;
  ReadRules("overlays/beside-volcano/paddle-rbac.yaml", given);
  Compare(NeededBy({"paddle-controllers"}), given);
}

// --- What processes write, as their rows in the table say.

// "PATCH /apis/g/v1/namespaces/n/jobs/j/status" as "patch g/jobs/status".
std::string WriteOf(const kube::Request& request) {
  std::vector<std::string> parts = absl::StrSplit(request.path, '/', absl::SkipEmpty());
  const std::string group = parts[0] == "api" ? "" : parts[1];
  parts.erase(parts.begin(), parts.begin() + (parts[0] == "api" ? 2 : 3));
  if (parts[0] == "namespaces") parts.erase(parts.begin(), parts.begin() + 2);
  const char* const verb = request.method == "POST" ? "create" : request.method == "DELETE" ? "delete" : "patch";
  return absl::StrCat(verb, " ", group, "/", parts[0], parts.size() > 2 ? "/" : "", parts.size() > 2 ? parts[2] : "");
}

TEST(ComponentsTest, NoProcessWritesWhatItsRowsDoNotSay) {
  std::map<std::string, std::set<std::string>> may, did;
  for (const ComponentRow& row : AllComponents()) {
    for (const Writes& writes : row.writes) {
      for (const absl::string_view verb : absl::StrSplit(writes.verbs, ' '))
        may[std::string(row.process)].insert(absl::StrCat(verb, " ", NameOf(*writes.resource, writes.subresource)));
    }
  }
  SimulatedLoop loop(1);
  sandbox::ClusterOptions options;
  options.kubelets.nodes = sandbox::MakeNodes({*sandbox::ParseNodeShape(sandbox::kDefaultNodeShape)}, 2);
  options.kubelets.behaviour = *sandbox::Behaviour::Parse({"worker=5s", "trainer=5s"}, {});
  options.label_source = lifecycle::LabelSource{true, {{"hosts", {"kubernetes.io/hostname"}}}};
  options.faults = [&](sandbox::Component component) {
    sandbox::Faults faults;
    faults.request = [&did, process = std::string(sandbox::ClientName(component))](const kube::Request& request) {
      if (request.method != "GET" && request.path.find("/events") == std::string::npos)
        did[process].insert(WriteOf(request));
      return sandbox::RequestFate{};
    };
    return faults;
  };
  sandbox::Cluster cluster(loop, std::move(options));
  cluster.Start();
  const auto user = cluster.NewClient("user");
  Owner owner;
  const std::string text = FileText("examples/ctr-volcano.yaml");
  user->Send({"POST", api::PathOf(api::kJobs, "default"), "", "application/json", "",
              api::ReadManifest(text, "ctr-volcano.yaml")->front().json},
             owner.token(), [](absl::StatusOr<kube::Response> reply) { EXPECT_TRUE(reply.ok() && reply->ok()); });
  user->Send({"POST", api::PathOf(api::paddle::kPaddleJobs, "default"), "", "application/json", "", kPaddleJob},
             owner.token(), [](absl::StatusOr<kube::Response> reply) { EXPECT_TRUE(reply.ok() && reply->ok()); });
  loop.RunFor(absl::Minutes(5));
  for (const ProcessRow& row : kProcesses) {
    const std::string process(row.name);
    EXPECT_THAT(did[process], Not(IsEmpty())) << process;
    for (const std::string& write : did[process]) EXPECT_TRUE(may[process].contains(write)) << process << ": " << write;
  }
}

// As `gangway sandbox` has it.
TEST(ComponentsTest, InOneProcessTheControllersOfPaddleJobsRunWithTheOthers) {
  SimulatedLoop loop(1);
  sandbox::ClusterOptions options;
  options.kubelets.nodes = sandbox::MakeNodes({*sandbox::ParseNodeShape(sandbox::kDefaultNodeShape)}, 2);
  options.kubelets.behaviour = *sandbox::Behaviour::Parse({"worker=5s"}, {});
  options.one_controller_process = true;
  sandbox::Cluster cluster(loop, std::move(options));
  cluster.Start();
  EXPECT_FALSE(cluster.running(sandbox::Component::kPaddleControllers));
  const auto user = cluster.NewClient("user");
  Owner owner;
  std::string answer;
  user->Send({"POST", api::PathOf(api::paddle::kPaddleJobs, "default"), "", "application/json", "", kPaddleJob},
             owner.token(), [](absl::StatusOr<kube::Response>) {});
  loop.RunFor(absl::Minutes(5));
  user->Send({"GET", api::PathOf(api::paddle::kPaddleJobs, "default", "wd"), "", "", "", ""}, owner.token(),
             [&](absl::StatusOr<kube::Response> reply) { answer = *reply->body; });
  loop.RunFor(absl::Seconds(1));
  EXPECT_EQ(api::ParseJson(answer)->at("status").at("phase"), "Completed");
}

}  // namespace
}  // namespace gangway::assembly
