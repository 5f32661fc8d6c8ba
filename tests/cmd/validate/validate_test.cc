#include "cmd/validate/validate.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/json_value.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/files.h"
#include "tests/testing/status_matchers.h"

namespace gangway::cmd {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Validation Of(absl::string_view text, absl::string_view source = "job.yaml") {
  const auto documents = api::ReadMixedManifest(text, source);
  EXPECT_THAT(documents, testutil::IsOk());
  return documents.ok() ? Validate(*documents) : Validation();
}

// "4: spec.tasks[0].replicas"
std::vector<std::string> Places(const Validation& validation) {
  std::vector<std::string> out;
  for (const Finding& f : validation.findings) out.push_back(absl::StrCat(f.at.line, ": ", f.error.field));
  return out;
}

constexpr absl::string_view kBadJob = R"(apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: ctr, namespace: ads}
spec:
  minAvailable: 3
  tasks:
    - name: worker
      replica: 2
      replicas: 2
      template:
        spec:
          containers:
            - name: c
              imge: i
              image: i
          restartPolicy: Sometimes
    - name: worker
      replicas: "2"
      template: {spec: {containers: [{name: c, image: i}]}}
  polices: []
)";

TEST(ValidateTest, SaysObjectPathLineRuleAndFix) {
  const Validation validation = Of(R"(apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: ctr, namespace: ads}
spec:
  minAvailable: 3
  tasks:
    - name: worker
      replicas: 2
      minAvailable: 5
      template: {spec: {containers: [{name: c, image: i}]}}
)");
  EXPECT_THAT(Places(validation), ElementsAre("5: spec.minAvailable", "9: spec.tasks[0].minAvailable"));
  EXPECT_THAT(ValidationText(validation),
              HasSubstr("job.yaml:9:7: job ads/ctr: spec.tasks[0].minAvailable: Invalid value: 5: must not be greater "
                        "than the task's replicas, 2 "
                        "(raise replicas or lower minAvailable)\n1 object checked, 1 refused\n"));
}

TEST(ValidateTest, FindsFieldsThatDoNotExistOrHaveAnotherType) {
  const Validation validation = Of(kBadJob);
  EXPECT_THAT(Places(validation),
              ElementsAre("8: spec.tasks[0].replica", "14: spec.tasks[0].template.spec.containers[0].imge",
                          "18: spec.tasks[1].replicas", "20: spec.polices"));
  const std::string text = ValidationText(validation);
  EXPECT_THAT(text, HasSubstr("spec.tasks[0].replica: Forbidden: there is no such field (did you mean replicas?)"));
  EXPECT_THAT(text, HasSubstr("spec.polices: Forbidden: there is no such field (did you mean policies?)"));
  EXPECT_THAT(text, HasSubstr("containers[0].imge: Forbidden: there is no such field (did you mean image?)"));
  EXPECT_THAT(text, HasSubstr("spec.tasks[1].replicas: Invalid value: \"2\""));
}

TEST(ValidateTest, JudgesEveryKindOfVolcanoAndPassesOverOthers) {
  const Validation validation = Of(R"(
{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: ads}, spec: {weight: -1}}
---
{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: g}, spec: {minMember: x}}
---
{apiVersion: bus.volcano.sh/v1alpha1, kind: Command, metadata: {name: stop}, action: AbortJob, target: {kind: Job, name: ctr, nam: x}}
---
{apiVersion: v1, kind: Service, metadata: {name: web, namespace: default}}
---
{apiVersion: batch/v1, kind: Job, metadata: {name: plain}}
---
{apiVersion: batch.volcano.sh/v1beta1, kind: Job, metadata: {name: ctr}}
)");
  EXPECT_EQ(validation.checked, 4u);
  EXPECT_EQ(validation.refused, 4u);
  std::vector<std::string> refused, passed;
  for (const Finding& f : validation.findings) refused.push_back(absl::StrCat(f.object, " ", f.error.field));
  for (const PassedOver& p : validation.passed_over) passed.push_back(p.object);
  EXPECT_THAT(refused, ::testing::Contains("queue ads spec.weight"));
  EXPECT_THAT(refused, ::testing::Contains("podgroup g spec.minMember"));
  EXPECT_THAT(refused, ::testing::Contains("command stop target.nam"));
  EXPECT_THAT(refused, ::testing::Contains("job ctr apiVersion"));
  EXPECT_THAT(passed, ElementsAre("Service default/web", "Job plain"));
  EXPECT_THAT(
      ValidationText(validation),
      HasSubstr("job.yaml:8:1: note: Service default/web is neither Volcano's nor Paddle's and was passed over\n"));
  EXPECT_THAT(ValidationText(validation), HasSubstr("write batch.volcano.sh/v1alpha1"));
}

TEST(ValidateTest, RulesAboutQueuesOfAClusterAreNotJudged) {
  const Validation validation = Of(R"({apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: j},
    spec: {queue: elsewhere, tasks: [{name: w, replicas: 1, template: {spec: {containers: [{name: c, image: i}]}}}]}})");
  EXPECT_THAT(validation.findings, IsEmpty());
}

TEST(ValidateTest, ExamplesAreTaken) {
  for (const char* name : {"ctr-volcano.yaml", "too-large.yaml"}) {
    const std::string path = absl::StrCat(GW_SOURCE_DIR, "/examples/", name);
    const Validation validation = Of(testutil::ReadFile(path), path);
    EXPECT_EQ(validation.checked, 1u) << name;
    EXPECT_THAT(ValidationText(validation), EndsWith("1 object checked, 0 refused\n"));
  }
}

// What a real control plane refused without knowing its queues is refused here, what it took is taken.
TEST(ValidateTest, RecordedCreatesGetTheirVerdict) {
  const auto rows = api::ParseJson(testutil::ReadFile(GW_SOURCE_DIR "/tests/golden/volcano/admission.json"));
  ASSERT_THAT(rows, testutil::IsOk());
  int taken = 0, refused = 0;
  for (const boost::json::value& row : rows->as_array()) {
    if (row.at("method") != "POST") continue;
    const std::string what(row.at("what").as_string());
    const auto documents = api::ReadMixedManifest(api::ToJson(row.at("input")), what);
    ASSERT_THAT(documents, testutil::IsOk()) << what;
    const Validation validation = Validate(*documents);
    const auto is_unknown = [](const Finding& f) { return absl::StrContains(f.error.rule, "no such field"); };
    if (std::any_of(validation.findings.begin(), validation.findings.end(), is_unknown))
      continue;  // the recordings were not strict
    if (row.at("status").as_int64() == 201) {
      EXPECT_THAT(ValidationText(validation), EndsWith("1 object checked, 0 refused\n")) << what;
      ++taken;
    } else if (validation.refused == 0) {
      EXPECT_THAT(std::string(row.at("message").as_string()), HasSubstr("queue"))
          << what << ": only rules about other queues are left out";
    } else {
      ++refused;
    }
  }
  EXPECT_GE(taken, 30);
  EXPECT_GE(refused, 60);
}

TEST(ValidateTest, JsonHasTheSameInFields) {
  Validation validation = Of(kBadJob);
  validation.unreadable.push_back("b.yaml: line 1");
  const auto json = api::ParseJson(ValidationJson(validation));
  ASSERT_THAT(json, testutil::IsOk());
  EXPECT_EQ(json->at("checked"), 1);
  EXPECT_EQ(json->at("refused"), 1);
  EXPECT_EQ(
      api::ToJson(json->at("findings").at(0)),
      R"({"object":"job ads/ctr","source":"job.yaml","line":8,"column":7,"level":"error","code":"","field":"spec.tasks[0].replica",)"
      R"("reason":"FieldValueForbidden","value":"","rule":"there is no such field","fix":"did you mean replicas?"})");
  EXPECT_EQ(api::ToJson(json->at("unreadable")), R"(["b.yaml: line 1"])");
}

TEST(ValidateTest, S7JobsOfPaddleK8sAreToldWhichRightTheyNeed) {
  const Validation validation = Of(testutil::ReadFile(GW_SOURCE_DIR "/examples/ctr-volcano.yaml"), "ctr.yaml");
  EXPECT_EQ(validation.refused, 0u);
  ASSERT_EQ(validation.notes.size(), 1u) << "both tasks have one service account";
  EXPECT_THAT(
      ValidationText(validation),
      HasSubstr("note: job ctr-volcano: pods of task pserver run paddle_k8s, which lists pods until all servers run"));
  const auto json = api::ParseJson(ValidationJson(validation));
  ASSERT_THAT(json, testutil::IsOk());
  EXPECT_EQ(json->at("notes").at(0).at("object"), "job ctr-volcano");
}

// Of a Job, a PodGroup, a Queue, what becomes of a PaddleJob, and what makes pods of Kubernetes' own.
TEST(ValidateTest, WhatWouldWaitForEverIsNoted) {
  const Validation validation = Of(R"(apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: apart}
spec:
  minAvailable: 1
  tasks:
    - name: worker
      replicas: 1
      template:
        spec:
          containers: [{name: c, image: i}]
          volumes:
            - {name: disk, cephfs: {monitors: [x]}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: near}
spec: {minMember: 1, subGroupPolicy: [{name: w, labelSelector: {matchExpressions: [{key: a, operator: Near}]}}]}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: bound}
spec: {weight: 1, affinity: {nodeGroupAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [a]}}}
---
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {name: pj}
spec:
  worker:
    replicas: 2
    template: {spec: {containers: [{name: paddle, image: i}], resourceClaims: [{name: gpu, resourceClaimName: x}]}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: servers}
spec:
  template:
    spec: {schedulerName: volcano, workloadRef: {name: w}}
)");
  EXPECT_EQ(validation.refused, 0u) << ValidationText(validation);
  std::vector<std::string> notes;
  for (const ValidationNote& note : validation.notes)
    notes.push_back(absl::StrCat(note.at.line, ": ", note.object, ": ", note.text));
  EXPECT_THAT(
      notes,
      ElementsAre(
          "12: job apart: spec.tasks[0].template.spec.volumes[disk]: gangway's scheduler does not know it: pods of "
          "task worker "
          "would wait for ever",
          "18: podgroup near: spec.subGroupPolicy[w].labelSelector: gangway's scheduler does not know it: no pod of "
          "the "
          "group would be placed",
          "23: queue bound: spec.affinity: gangway's scheduler does not know it: no pod of the queue would be placed",
          "25: paddlejob pj: of its Job, spec.tasks[0].template.spec.resourceClaims[gpu]: gangway's scheduler does not "
          "know it: pods of task worker would wait for ever; it allocates no devices of resource.k8s.io; ask for "
          "devices as resources of a device plugin (resources.limits), or give the pods to a scheduler that allocates "
          "them (schedulerName: default-scheduler)",
          "38: deployment servers: spec.template.spec.workloadRef: gangway's scheduler does not know it: its pods "
          "would "
          "wait for ever"));
}

TEST(ValidateTest, TheSameInputGivesTheSameText) {
  EXPECT_EQ(ValidationText(Of(kBadJob)), ValidationText(Of(kBadJob)));
}

}  // namespace
}  // namespace gangway::cmd
