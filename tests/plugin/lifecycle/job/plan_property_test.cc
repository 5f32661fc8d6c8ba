// Properties of plans over Jobs and worlds that chance makes, possible ones and others. A failure names its seed.
//
//   GW_PLAN_SEED=7    runs that seed alone
#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "api/random_object.h"
#include "api/volcano/defaults.h"
#include "base/strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "plugin/lifecycle/job/roster.h"
#include "plugin/lifecycle/words.h"
#include "tests/plugin/lifecycle/job/random_job.h"
#include "tests/plugin/lifecycle/job/world.h"

namespace gangway::lifecycle {
namespace {

using testutil::RandomJobs;
using testutil::World;

const absl::Time kNow = absl::FromUnixSeconds(1'767'225'600);

std::string Text(const kube::Plan& plan) {
  std::string text;
  for (const auto& stage : plan.stages) {
    for (const kube::Write& write : stage) {
      absl::StrAppend(&text, static_cast<int>(write.verb), " ", std::string(write.resource->plural), " ", write.ns, "/",
                      write.name, "/", write.subresource, " ", write.uid, " ", write.resource_version, " ", write.body,
                      "\n");
    }
    absl::StrAppend(&text, "--\n");
  }
  for (const kube::EventNote& note : plan.events) absl::StrAppend(&text, note.reason, ": ", note.message, "\n");
  return absl::StrCat(text, absl::FormatTime(plan.look_again, absl::UTCTimeZone()));
}

// What every plan keeps, whatever it was made from. Empty: it does.
std::string Unsound(const api::volcano::Job& job, std::size_t most_writes, const kube::Plan& plan) {
  std::set<std::string> touched;
  std::size_t writes = 0;
  for (const auto& stage : plan.stages) {
    for (const kube::Write& write : stage) {
      const std::string what =
          absl::StrCat(static_cast<int>(write.verb), " ", std::string(write.resource->plural), " ", write.name);
      ++writes;
      if (!touched.insert(absl::StrCat(std::string(write.resource->plural), "/", write.name)).second)
        return absl::StrCat("written twice: ", what);
      if (write.ns != job.metadata.ns) return absl::StrCat("in another namespace: ", what);
      if (write.name.size() > job.metadata.name.size() + 100 && job.metadata.name.size() > 3)
        return absl::StrCat("a long name: ", what);
      if (write.verb == kube::Verb::kDelete) {
        if (write.uid.empty()) return absl::StrCat("deleted without UID: ", what);
        continue;
      }
      const auto body = api::ParseJson(write.body);
      if (!body.ok() || !body->is_object()) return absl::StrCat("no JSON object: ", what, ": ", write.body);
      if (write.verb != kube::Verb::kCreate) {
        if (write.uid.empty()) return absl::StrCat("changed without UID: ", what);
        continue;
      }
      const boost::json::value* const name = body->at("metadata").as_object().if_contains("name");
      if (name == nullptr || View(name->as_string()) != write.name)
        return absl::StrCat("another name in the body: ", what);
      const auto& owner = body->at("metadata").at("ownerReferences").as_array().at(0);
      if (View(owner.at("uid").as_string()) != job.metadata.uid || !owner.at("controller").as_bool())
        return absl::StrCat("not owned: ", what);
    }
  }
  if (writes > most_writes) return absl::StrCat(writes, " writes, more than ", most_writes);
  for (const kube::EventNote& note : plan.events) {
    if (note.reason.empty() || note.message.empty() || note.regarding.name != job.metadata.name)
      return absl::StrCat("a poor event: ", note.reason, ": ", note.message);
  }
  return "";
}

template <class F>
void EachSeed(std::uint64_t count, F f) {
  std::uint64_t only = 0;
  if (const char* text = std::getenv("GW_PLAN_SEED"); text != nullptr && absl::SimpleAtoi(text, &only)) {
    SCOPED_TRACE(absl::StrCat("seed ", only));
    return f(only);
  }
  if (std::getenv("GW_TEST_LONG") != nullptr) count *= 50;
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
  count = std::max<std::uint64_t>(count / 8, 1);  // a view costs ten times as much there
#endif
#endif
  for (std::uint64_t seed = 1; seed <= count && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(absl::StrCat("replay: GW_PLAN_SEED=", seed));
    f(seed);
  }
}

// --- Views, possible or not.

JobPod RandomPod(RandomJobs& random, const api::volcano::Job& job, const std::string& task) {
  JobPod pod;
  pod.uid = absl::StrCat("pod-", random.Below(1000));
  pod.job_uid = random.Chance(90) ? job.metadata.uid : "another";
  pod.task = random.Chance(90) ? task : random.OneOf({"", "nobody", "ps"});
  pod.version = random.Chance(70) ? job.status.version : random.Below(5) - 1;
  if (random.Chance(2)) pod.version = 2'000'000'000;
  pod.phase = static_cast<PodPhase>(random.Below(5));
  pod.deleting = random.Chance(15);
  pod.failed_first = pod.phase == PodPhase::kFailed && random.Chance(80);
  pod.released = random.Chance(5);
  pod.ready = random.Chance(70);
  pod.exit_code = random.Below(5);
  pod.restarts = random.Chance(20) ? random.Below(1000) : 0;
  if (random.Chance(50)) pod.finished = kNow - absl::Seconds(random.Below(100));
  return pod;
}

std::string RandomRecord(RandomJobs& random) {
  return random.OneOf(
      {"0 ps:0-3 w:0", "1 w:0,2-4", "0 ps:0", "x", "", "1 :", "-1 ps:5-1", "99999999999 w:0", "0 w:0-2000000000", "0 w",
       "ps:0-3", " ", "0 ps:0-1,1-3,2", "PodFailed/ctr-w-0/RestartJob=2026-01-01T00:00:00.000000Z",
       "PodPending//AbortJob=2025-12-31T23:59:59.000000Z PodEvicted/ctr-ps-0/RestartPod=bad", "a=b=c///"});
}

void Dirty(RandomJobs& random, api::volcano::Job& job) {
  api::volcano::JobStatus& status = job.status;
  status.state.phase = random.OneOf(RandomJobs::Phases());
  status.version = random.Chance(90) ? random.Below(4) : random.Chance(50) ? -5 : 2'147'483'646;
  status.retry_count = random.Chance(90) ? random.Below(4) : random.Chance(50) ? -5 : 2'147'483'646;
  for (const char* key : {"gangway.io/created", "gangway.io/restarting", "gangway.io/keep-from",
                          "gangway.io/killed-pod-group", "gangway.io/command", "gangway.io/unknown",
                          "gangway.io/release", "gangway.io/delayed", "plugin-svc", "volume-pvc-x"}) {
    if (random.Chance(30)) status.controlled_resources[key] = RandomRecord(random);
  }
}

TEST(PlanPropertyTest, AnyViewGivesASoundPlanAndAlwaysTheSame) {
  EachSeed(4'000, [](std::uint64_t seed) {
    RandomJobs random(seed, true);
    api::volcano::Job job = random.Job();
    if (random.Chance(10)) {  // nothing in it means anything
      const std::string name = job.metadata.name;
      RandomStream bits(seed);
      job = api::RandomObject<api::volcano::Job>([&bits] { return bits.Next(); });
      for (auto& task : job.spec.tasks) task.replicas = std::min(task.replicas, 5);
      job.metadata.ns = "default";
      job.metadata.name = name;
      job.metadata.deletion_timestamp = {};
    }
    job.metadata.uid = "job-uid";
    job.metadata.resource_version = "7";
    Dirty(random, job);
    if (random.Chance(80)) api::volcano::ApplyDefaults(job);

    PodTable pods;
    absl::flat_hash_set<std::string> leaving, released;
    for (const auto& task : job.spec.tasks) {
      for (int i = 0; i < std::min(task.replicas, 5) + 2; ++i) {
        const std::string name = absl::StrCat(job.metadata.name, "-", task.name, "-", i);
        if (random.Chance(65))
          pods[name] = RandomPod(random, job, task.name);
        else if (random.Chance(40))
          leaving.insert(name);
        if (random.Chance(5)) released.insert(name);
      }
    }
    if (random.Chance(10)) pods["stranger"] = RandomPod(random, job, "w");
    api::volcano::PodGroup group;
    group.metadata.name = PodGroupName(job);
    group.metadata.ns = "default";
    group.metadata.uid = "group-uid";
    group.metadata.resource_version = "8";
    group.status.phase = random.OneOf({"", "Pending", "Inqueue", "Running", "Unknown", "Completed", "Nonsense"});
    std::vector<api::volcano::Command> commands(static_cast<std::size_t>(random.Below(3)));
    for (std::size_t i = 0; i < commands.size(); ++i) {
      commands[i].metadata.name = absl::StrCat("c", i);
      commands[i].metadata.uid = random.Chance(80) ? absl::StrCat("command-", i) : "x";
      commands[i].action = random.OneOf(RandomJobs::Actions());
      if (random.Chance(80)) commands[i].target.emplace().uid = random.OneOf({"", "job-uid", "another"});
    }
    const absl::flat_hash_set<std::string> claims = {"theirs"};
    JobView view;
    view.job = &job;
    if (random.Chance(90)) view.pods = &pods;
    if (random.Chance(70)) view.pod_group = &group;
    for (const auto& command : commands) view.commands.push_back(&command);
    for (const api::Resource* resource : {&api::kConfigMaps, &api::kServices}) {
      if (!random.Chance(30)) continue;
      OwnedObject& object = view.objects.emplace_back();
      object.resource = resource;
      object.name = absl::StrCat(job.metadata.name, resource == &api::kConfigMaps ? "-svc" : "");
      object.uid = "object-uid";
      object.resource_version = "9";
      object.deleting = random.Chance(10);
      if (resource == &api::kConfigMaps) object.data["a"] = "b";
    }
    if (random.Chance(70)) view.claims = &claims;
    view.pods_current = random.Chance(80);
    if (random.Chance(80)) view.seen_leaving = &leaving;
    if (random.Chance(50)) view.released_leaving = &released;

    const kube::Plan plan = ReconcileJob(view, kNow);
    ASSERT_EQ(Text(plan), Text(ReconcileJob(view, kNow)));
    std::size_t places = 0;
    for (const auto& task : job.spec.tasks) places += static_cast<std::size_t>(std::max(task.replicas, 0));
    ASSERT_EQ(Unsound(job, places + pods.size() + commands.size() + 15, plan), "") << Text(plan);
  });
}

// --- Worlds: a plan that was carried out leaves nothing to do, whatever happened before.

void Happen(RandomJobs& random, World& world, int round) {
  const std::vector<std::string> pods = world.Names("pods");
  const std::string pod = pods.empty() ? "" : random.OneOf(pods);
  switch (random.Below(12)) {
    case 0:
    case 1:
      world.RunAll();
      break;
    case 2:
    case 3:
      if (!pod.empty() && !world.table().at(pod).deleting)
        world.SetPod(pod, random.OneOf({"Running", "Succeeded", "Failed"}), random.Below(5));
      break;
    case 4:
      if (!pod.empty() && !world.table().at(pod).deleting) world.DeletePod(pod);
      break;
    case 5:
      world.AllDeletedGone();
      break;
    case 6:
      if (!pod.empty()) world.PodGone(pod);
      break;
    case 7:
      world.Command(absl::StrCat("c", round), random.OneOf(RandomJobs::Actions()));
      break;
    case 8:
      world.Pass(absl::Seconds(random.Below(90)));
      break;
    case 9:
      if (world.Exists("podgroups", PodGroupName(world.job())))
        world.SetGroupPhase(random.OneOf({"Inqueue", "Running", "Unknown", "Pending"}));
      break;
    case 10:
      world.AddClaim("theirs");
      break;
    case 11:  // what no admission would let through, and back
      world.PatchJob(random.OneOf(
          {R"({"spec":{"plugins":{"nope":[]}}})", R"({"spec":{"plugins":{"nope":null}}})",
           R"({"spec":{"minAvailable":-1}})", R"({"spec":{"minAvailable":1}})", R"({"spec":{"maxRetry":0}})",
           R"({"spec":{"maxRetry":3}})", R"({"spec":{"queue":"elsewhere"}})",
           R"({"spec":{"policies":[{"event":"*","action":"RestartJob"}]}})", R"({"spec":{"policies":null}})"}));
      break;
  }
  if (random.Chance(50) && world.Exists("podgroups", PodGroupName(world.job()))) world.SetGroupPhase("Inqueue");
}

TEST(PlanPropertyTest, APlanCarriedOutLeavesNothingToDo) {
  EachSeed(600, [](std::uint64_t seed) {
    RandomJobs random(seed, seed % 2 == 0);
    api::volcano::Job job = random.Job();
    api::volcano::ApplyDefaults(job);
    World world(api::Encode(job));
    for (int round = 0; round < 25; ++round) {
      Happen(random, world, round);
      const kube::Plan plan = world.Decide();
      ASSERT_EQ(Text(plan), Text(world.Decide()));
      for (int i = 0; i < 20 && world.Exists("jobs", "ctr") && world.Step() > 0; ++i) {
      }
      if (!world.Exists("jobs", "ctr")) return;  // its time to live is over
      ASSERT_TRUE(world.Settle(1)) << "round " << round << ", phase " << world.phase() << "\n"
                                   << Text(world.Decide()) << "\n"
                                   << api::Encode(world.job());
    }
  });
}

}  // namespace
}  // namespace gangway::lifecycle
