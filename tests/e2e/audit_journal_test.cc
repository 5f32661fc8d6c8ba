#include "tests/e2e/audit_journal.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/core/pod.h"
#include "api/resource.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gangway::testutil {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A line of the log; `millisecond` is when the answer was complete, `came` when the request was there.
std::string Line(int millisecond, const std::string& verb, const std::string& subresource, const std::string& request,
                 const std::string& response, int code = 200, const std::string& uri = "/api/v1/namespaces/d/pods/p",
                 int came = 100) {
  return absl::StrCat(R"({"kind":"Event","stage":"ResponseComplete","verb":")", verb, R"(","requestURI":")", uri,
                      R"(","userAgent":"gangway-scheduler/0.1",)",
                      R"("objectRef":{"resource":"pods","namespace":"d","name":"p","apiVersion":"v1")",
                      subresource.empty() ? "" : absl::StrCat(R"(,"subresource":")", subresource, "\""),
                      R"(},"responseStatus":{"code":)", code, "},", R"("requestObject":)", request,
                      R"(,"responseObject":)", response, R"(,"requestReceivedTimestamp":"2026-01-01T00:00:00.)", came,
                      R"(000Z","stageTimestamp":"2026-01-01T00:00:00.)", millisecond, R"(000Z"})", "\n");
}

std::string Pod(int version, const std::string& metadata = "", const std::string& spec = "",
                const std::string& status = "Pending") {
  return absl::StrCat(
      R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"d","uid":"u","resourceVersion":")",
      version, "\"", metadata, R"(},"spec":{"containers":[{"name":"c"}])", spec, R"(},"status":{"phase":")", status,
      "\"}}");
}

const char kStatus[] = R"({"kind":"Status","status":"Success"})";

// "create:Pending", "create/binding:Pending@n1", "delete/eviction:Running@n1 ending", "delete:gone"
std::vector<std::string> Read(const std::string& log) {
  const auto records = ReadAuditLog(log);
  EXPECT_TRUE(records.ok()) << records.status();
  std::vector<std::string> out;
  if (!records.ok()) return out;
  for (const sandbox::JournalRecord& record : *records) {
    EXPECT_EQ(record.resource, &api::kPods);
    EXPECT_EQ(record.client, "gangway-scheduler");
    EXPECT_EQ(record.uid, "u");
    std::string text = absl::StrCat(record.verb, record.subresource.empty() ? "" : "/", record.subresource, ":");
    if (record.after == nullptr) {
      absl::StrAppend(&text, "gone");
    } else {
      const auto pod = api::Decode<api::core::Pod>(*record.after);
      absl::StrAppend(&text, pod->status.phase, pod->bound() ? "@" : "", pod->spec.node_name,
                      pod->metadata.deleting() ? " ending" : "");
    }
    out.push_back(std::move(text));
  }
  return out;
}

TEST(AuditJournalTest, TheLifeOfAPodThatIsBoundEvictedAndGone) {
  const std::string binding = R"({"kind":"Binding","target":{"kind":"Node","name":"n1"}})";
  const std::string ending = R"(,"deletionTimestamp":"2026-01-01T00:00:01Z","deletionGracePeriodSeconds":)";
  EXPECT_THAT(
      Read(Line(100, "create", "", Pod(0), Pod(10), 201) + Line(200, "create", "binding", binding, kStatus, 201) +
           Line(300, "patch", "status", "{}", Pod(12, "", R"(,"nodeName":"n1")", "Running")) +
           Line(400, "create", "eviction", R"({"kind":"Eviction"})", kStatus, 201) +
           Line(500, "delete", "", "{}", Pod(14, ending + "0", R"(,"nodeName":"n1")", "Running"))),
      ElementsAre("create:Pending", "create/binding:Pending@n1", "patch/status:Running@n1",
                  "create/eviction:Running@n1 ending", "delete:gone"));
}

TEST(AuditJournalTest, TheOrderIsThatOfTheRevisions) {
  // The answer to the older write was complete last; a binding, whose revision is not told, stands behind what was
  // answered before it.
  const std::string binding = R"({"kind":"Binding","target":{"kind":"Node","name":"n1"}})";
  EXPECT_THAT(
      Read(Line(100, "patch", "", "{}", Pod(11, R"(,"labels":{"a":"b"})")) +
           Line(200, "create", "", Pod(0), Pod(10), 201) + Line(300, "create", "binding", binding, kStatus, 201)),
      ElementsAre("create:Pending", "patch:Pending", "create/binding:Pending@n1"));
}

// The patch was carried out before the pod was bound, and answered after that.
TEST(AuditJournalTest, ABindingStandsBehindWhatDoesNotKnowOfIt) {
  const std::string binding = R"({"kind":"Binding","target":{"kind":"Node","name":"n1"}})";
  const std::string before = Line(100, "create", "", Pod(0), Pod(10), 201), uri = "/api/v1/namespaces/d/pods/p";
  EXPECT_THAT(Read(before + Line(300, "create", "binding", binding, kStatus, 201) +
                   Line(400, "patch", "", "{}", Pod(11), 200, uri, /*came=*/200)),
              ElementsAre("create:Pending", "patch:Pending", "create/binding:Pending@n1"));
  // Asked for after that it is another pod's story, or a fault that is to be seen.
  EXPECT_THAT(Read(before + Line(300, "create", "binding", binding, kStatus, 201) +
                   Line(500, "patch", "", "{}", Pod(11), 200, uri, /*came=*/400)),
              ElementsAre("create:Pending", "create/binding:Pending@n1", "patch:Pending"));
}

TEST(AuditJournalTest, AWriteThatIsAnsweredAfterTheDeletionBringsNothingBack) {
  EXPECT_THAT(Read(Line(100, "create", "", Pod(0), Pod(10), 201) + Line(200, "delete", "", "{}", kStatus) +
                   Line(300, "patch", "", "{}", Pod(11))),
              ElementsAre("create:Pending", "delete:gone"));
}

TEST(AuditJournalTest, WhoWritesWhileSomebodyElseDeletesIsNotTheOneWhoDeleted) {
  const std::string ending = R"(,"deletionTimestamp":"2026-01-01T00:00:01Z","deletionGracePeriodSeconds":0)";
  EXPECT_THAT(Read(Line(100, "create", "", Pod(0), Pod(10), 201) + Line(200, "patch", "status", "{}", Pod(12, ending)) +
                   Line(201, "delete", "", "{}", Pod(11, ending))),
              ElementsAre("create:Pending", "delete:gone"));
  EXPECT_THAT(Read(Line(100, "create", "", Pod(0), Pod(10), 201) + Line(200, "patch", "status", "{}", Pod(12, ending)) +
                   Line(201, "delete", "", "{}", kStatus)),
              ElementsAre("create:Pending", "delete:gone"));
}

TEST(AuditJournalTest, AGracefulDeletionMarksAndAFinalizerKeeps) {
  const std::string ending = R"(,"deletionTimestamp":"2026-01-01T00:00:01Z","deletionGracePeriodSeconds":)";
  EXPECT_THAT(
      Read(Line(100, "create", "", Pod(0), Pod(10), 201) + Line(200, "delete", "", "{}", Pod(11, ending + "30")) +
           Line(300, "delete", "", "{}", Pod(12, ending + R"(0,"finalizers":["f"])")) +
           Line(400, "patch", "", "{}", Pod(13, ending + "0"))),
      ElementsAre("create:Pending", "delete:Pending ending", "delete:Pending ending", "patch:gone"));
}

TEST(AuditJournalTest, TheGarbageCollectorIsAnsweredWithMetadataOnly) {
  const std::string ending = R"(,"deletionTimestamp":"2026-01-01T00:00:01Z","deletionGracePeriodSeconds":0)";
  const std::string metadata =
      R"({"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"p","namespace":"d","uid":"u","resourceVersion":"12")";
  EXPECT_THAT(Read(Line(100, "create", "", Pod(0), Pod(10), 201) +
                   Line(200, "delete", "", "{}", Pod(11, ending + R"(,"finalizers":["foregroundDeletion","f"])")) +
                   Line(300, "patch", "", "{}", metadata + ending + R"(,"finalizers":["f"]}})") +
                   Line(400, "patch", "", "{}", metadata + ending + "}}")),
              ElementsAre("create:Pending", "delete:Pending ending", "patch:Pending ending", "patch:gone"));
}

TEST(AuditJournalTest, WhatChangedNothingLeavesNoRecord) {
  EXPECT_THAT(Read(Line(100, "create", "", Pod(0), kStatus, 409) +
                   Line(200, "create", "", Pod(0), Pod(10), 201, "/api/v1/namespaces/d/pods?dryRun=All") +
                   Line(300, "delete", "", "{}", kStatus)),
              IsEmpty());
  EXPECT_THAT(Read(Line(100, "create", "", Pod(0), Pod(10), 201) + Line(200, "patch", "", "{}", Pod(10))),
              ElementsAre("create:Pending"));
}

TEST(AuditJournalTest, ALineThatIsNoEventIsNamed) {
  const auto records = ReadAuditLog("{}\nnot json\n");
  EXPECT_EQ(records.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(absl::StrContains(records.status().message(), "line 2"));
}

}  // namespace
}  // namespace gangway::testutil
