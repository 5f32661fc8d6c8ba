// Journals by hand, for the tests of the checkers.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/simulation/checkers.h"

namespace gangway::testutil {

// Records what is put, by whom, at its clock.
class Journal {
 public:
  void Put(const api::Resource& resource, const std::string& name, const std::string& metadata,
           const std::string& rest) {
    const std::string uid = absl::StrCat(View(resource.plural), "-", name, "-uid");
    const std::string text =
        absl::StrCat(R"({"apiVersion":")", resource.ApiVersion(), R"(","kind":")", std::string(resource.kind),
                     R"(","metadata":{"name":")", name, resource.namespaced ? R"(","namespace":"default)" : "",
                     R"(","uid":")", uid, R"(")", metadata, "}", rest, "}");
    Record(resource, name, uid, MakeBytes(text));
  }
  void Remove(const api::Resource& resource, const std::string& name) {
    Record(resource, name, absl::StrCat(View(resource.plural), "-", name, "-uid"), nullptr);
  }

  void Node(const std::string& extra_spec = "", const std::string& labels = "") {
    Put(api::kNodes, "n1", absl::StrCat(R"(,"labels":{)", labels, "}"),
        absl::StrCat(R"(,"spec":{)", extra_spec, R"(},"status":{"allocatable":{"cpu":"4","pods":"110"}})"));
    Put(api::kNodes, "n2", "", R"(,"spec":{},"status":{"allocatable":{"cpu":"4","pods":"110"}})");
    Wait(absl::Minutes(1));
  }
  // n1 in zone a and n2 in zone b, each in a rack of its own, and both in one hall.
  void Zones() {
    for (const auto& [node, zone] : {std::pair{"n1", "a"}, std::pair{"n2", "b"}}) {
      Put(api::kNodes, node, absl::StrCat(R"(,"labels":{"zone":")", zone, R"("})"),
          R"(,"spec":{},"status":{"allocatable":{"cpu":"8","pods":"110"}})");
    }
    HyperNode("rack-1", 1, R"({"type":"Node","selector":{"exactMatch":{"name":"n1"}}})");
    HyperNode("rack-2", 1, R"({"type":"Node","selector":{"labelMatch":{"matchLabels":{"zone":"b"}}}})");
    HyperNode("hall", 2, R"({"type":"HyperNode","selector":{"regexMatch":{"pattern":"^rack-[12]$"}}})");
    Wait(absl::Minutes(1));
  }
  void HyperNode(const std::string& name, int tier, const std::string& member) {
    Put(api::volcano::kHyperNodes, name, "",
        absl::StrCat(R"(,"spec":{"tier":)", tier, R"(,"tierName":"tier-)", tier, R"(","members":[)", member, "]}"));
  }
  void Volume(const std::string& zone, const std::string& claim) {
    Put(api::kPersistentVolumes, "v", "",
        absl::StrCat(
            R"(,"spec":{"claimRef":{"namespace":"default","name":")", claim, R"(","uid":"persistentvolumeclaims-)",
            claim,
            R"(-uid"},"nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"zone","operator":"In","values":[")",
            zone, R"("]}]}]}}})"));
  }
  void Claim(const std::string& name, const std::string& phase) {
    Put(api::kPersistentVolumeClaims, name, "",
        absl::StrCat(R"(,"spec":{)", phase == "Bound" ? R"("volumeName":"v")" : "", R"(},"status":{"phase":")", phase,
                     R"("})"));
  }
  // A volume is to be made for it where that node reaches it.
  void ClaimOn(const std::string& name, const std::string& node) {
    Put(api::kPersistentVolumeClaims, name,
        absl::StrCat(R"(,"annotations":{"volume.kubernetes.io/selected-node":")", node, R"("})"),
        R"(,"spec":{},"status":{"phase":"Pending"})");
  }
  void Queue(const std::string& spec) { Put(api::kQueues, "default", "", absl::StrCat(R"(,"spec":{)", spec, "}")); }
  void Group(int min_member, const std::string& extra = "", int running = 0, const std::string& phase = "Inqueue",
             const std::string& conditions = "") {
    Put(api::kPodGroups, "g", R"(,"ownerReferences":[{"kind":"Job","name":"j","uid":"jobs-j-uid","controller":true}])",
        absl::StrCat(R"(,"spec":{"queue":"default","minMember":)", min_member, extra, R"(},"status":{"phase":")", phase,
                     R"(","running":)", running, conditions.empty() ? "" : ",", conditions, "}"));
  }
  struct PodIs {
    std::string node = {}, phase = "Pending", task = "w", spec = {}, scheduler = "volcano", labels = {};
    bool deleting = false, controlled = true, ported = false, evicted = false;
  };
  void Pod(const std::string& name, const PodIs& is) {
    Put(api::kPods, name,
        absl::StrCat(
            is.deleting ? R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")" : "",
            is.controlled ? R"(,"ownerReferences":[{"kind":"Job","name":"j","uid":"jobs-j-uid","controller":true}])"
                          : "",
            R"(,"labels":{)", is.labels,
            R"(},"annotations":{"scheduling.k8s.io/group-name":"g","volcano.sh/task-spec":")", is.task, R"("})"),
        absl::StrCat(R"(,"spec":{"schedulerName":")", is.scheduler, R"(","nodeName":")", is.node, R"(")", is.spec,
                     R"(,"containers":[{"name":"c","resources":{"requests":{"cpu":"2"}})",
                     is.ported ? R"(,"ports":[{"hostPort":80}])" : "", R"(}]},"status":{"phase":")", is.phase, R"(")",
                     is.evicted ? R"(,"conditions":[{"type":"DisruptionTarget","status":"True",)"
                                  R"("reason":"PreemptionByScheduler"}])"
                                : "",
                     "}"));
  }
  void Job(const std::string& phase, int running = 0, int succeeded = 0, int version = 0, int retries = 0) {
    Put(api::kJobs, "j", "",
        absl::StrCat(R"(,"spec":{"maxRetry":2},"status":{"state":{"phase":")", phase, R"("},"running":)", running,
                     R"(,"succeeded":)", succeeded, OfTasks(running, succeeded), R"(,"version":)", version,
                     R"(,"retryCount":)", retries, "}"));
  }
  // Of a Job's status: all are of one task.
  static std::string OfTasks(int running, int succeeded, int failed = 0) {
    return absl::StrCat(R"(,"taskStatusCount":{"w":{"phase":{"Running":)", running, R"(,"Succeeded":)", succeeded,
                        R"(,"Failed":)", failed, "}}}");
  }
  void Command(const std::string& action) {
    Put(api::kCommands, "do", "", absl::StrCat(R"(,"action":")", action, R"(","target":{"kind":"Job","name":"j"})"));
  }

  void Holds(const std::string& identity) {
    Put(api::kLeases, "lead", "", absl::StrCat(R"(,"spec":{"holderIdentity":")", identity, R"("})"));
  }

  Journal& By(std::string client) {
    client_ = std::move(client);
    return *this;
  }
  void Wait(absl::Duration time) { now_ += time; }
  Checker& checker() { return checker_; }
  absl::Time now() const { return now_; }

 private:
  void Record(const api::Resource& resource, const std::string& name, const std::string& uid, Bytes after) {
    sandbox::JournalRecord record;
    record.revision = ++revision_;
    record.time = now_;
    record.client = client_;
    record.verb = "write";
    record.resource = &resource;
    record.key = {resource.namespaced ? "default" : "", name};
    record.uid = uid;
    record.before = objects_[{&resource, name}];
    record.after = objects_[{&resource, name}] = std::move(after);
    checker_.OnRecord(record);
  }

  std::string client_ = "user";
  absl::Time now_ = absl::FromUnixSeconds(1'767'225'600);
  std::uint64_t revision_ = 0;
  std::map<std::pair<const api::Resource*, std::string>, Bytes> objects_;
  Checker checker_{[] {
    Checker::Rules rules;
    rules.must_finish = false;
    rules.expected_phase = {};
    return rules;
  }()};
};

struct RuleCase {
  Rule rule;
  std::function<void(Journal&, bool wrong)> write;
};

// Of who must leave, and for whom (evicted.h).
std::vector<RuleCase> EvictionCases();

}  // namespace gangway::testutil
