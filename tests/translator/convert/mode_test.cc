// Modes: table A of tests/spec/paddle.rows, and what C says of elastic jobs.
#include "translator/convert/mode.h"

#include "absl/strings/str_cat.h"
#include "base/strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gangway::convert {
namespace {

using ::testing::HasSubstr;

// "PS: ps 2, worker 2, until worker", then what is said, "; W-UNUSED spec.ps"; of a job with errors only these.
std::string LinedUp(const Roles& roles) {
  const Lineup lineup = LineUp(roles);
  std::string out;
  if (!HasErrors(lineup.findings)) {
    out = absl::StrCat(View(ModeName(lineup.mode)), ":");
    for (const TaskSize& task : lineup.tasks) absl::StrAppend(&out, " ", task.name, " ", task.replicas, ",");
    absl::StrAppend(&out, lineup.completing_task.empty() ? " until all end" : " until ", lineup.completing_task,
                    lineup.elastic ? ", elastic" : "");
  }
  for (const Finding& finding : lineup.findings) {
    absl::StrAppend(&out, out.empty() ? "" : "; ", View(EntryOf(finding.code).name), " ", finding.error.field);
  }
  return out;
}

TEST(ModeTest, A1OneWorker) { EXPECT_EQ(LinedUp({.worker = 1}), "Single: worker 1, until worker"); }
TEST(ModeTest, A2TwoWorkers) { EXPECT_EQ(LinedUp({.worker = 2}), "Collective: worker 2, until worker"); }
TEST(ModeTest, A3ServersAndWorkers) { EXPECT_EQ(LinedUp({.ps = 2, .worker = 2}), "PS: ps 2, worker 2, until worker"); }
TEST(ModeTest, A4OneOfEach) { EXPECT_EQ(LinedUp({.ps = 1, .worker = 1}), "PS: ps 1, worker 1, until worker"); }
TEST(ModeTest, A5NoServersButWorkers) {
  EXPECT_EQ(LinedUp({.ps = 0, .worker = 2}), "Collective: worker 2, until worker; W-ZERO-REPLICAS spec.ps.replicas");
}
TEST(ModeTest, A6NoServersButOneWorker) {
  EXPECT_EQ(LinedUp({.ps = 0, .worker = 1}), "Single: worker 1, until worker; W-ZERO-REPLICAS spec.ps.replicas");
}
TEST(ModeTest, A7ServersOnly) { EXPECT_EQ(LinedUp({.ps = 2}), "PS: ps 2, until all end; W-UNUSED spec.ps"); }
TEST(ModeTest, A8NoWorkers) { EXPECT_EQ(LinedUp({.worker = 0}), "E-EMPTY spec; W-ZERO-REPLICAS spec.worker.replicas"); }
TEST(ModeTest, A9NoRole) { EXPECT_EQ(LinedUp({}), "E-EMPTY spec"); }
TEST(ModeTest, A10HeterTrainers) {
  EXPECT_EQ(LinedUp({.ps = 2, .worker = 2, .heter = 2}), "PS: ps 2, worker 2, heter 2, until worker");
}
TEST(ModeTest, A11HeterTrainersWithoutServers) {
  EXPECT_EQ(LinedUp({.worker = 2, .heter = 2}), "E-HETER spec.heter");
  EXPECT_EQ(LinedUp({.ps = 2, .heter = 2}), "E-HETER spec.heter") << "nor without workers";
  EXPECT_EQ(LinedUp({.ps = 0, .worker = 2, .heter = 2}), "E-HETER spec.heter; W-ZERO-REPLICAS spec.ps.replicas");
}
TEST(ModeTest, A12Elastic) {
  EXPECT_EQ(LinedUp({.worker = 3, .elastic = 1}), "Collective: worker 3, until worker, elastic");
}
TEST(ModeTest, A13NegativeReplicas) {
  EXPECT_EQ(LinedUp({.worker = -1}), "E-REPLICAS spec.worker.replicas");
  EXPECT_EQ(LinedUp({.ps = -2147483647 - 1, .worker = 2, .heter = 1}), "E-REPLICAS spec.ps.replicas");
}

TEST(ModeTest, C13ElasticZero) {
  EXPECT_EQ(LinedUp({.worker = 3, .elastic = 0}), "Collective: worker 3, until worker; W-ELASTIC0 spec.elastic");
  EXPECT_EQ(LinedUp({.worker = 1, .elastic = -1}), "Single: worker 1, until worker; W-ELASTIC0 spec.elastic");
}
TEST(ModeTest, C14ElasticWithoutWorkers) {
  EXPECT_EQ(LinedUp({.elastic = 1}), "E-EMPTY spec; E-ELASTIC spec.elastic");
  EXPECT_THAT(LinedUp({.ps = 2, .elastic = 1}), HasSubstr("E-ELASTIC spec.elastic"));
}

TEST(ModeTest, ServersAreNeverElastic) {
  EXPECT_EQ(LinedUp({.ps = 1, .worker = 2, .elastic = 1}), "E-ELASTIC spec.elastic");
}

TEST(ModeTest, OneElasticWorkerMayGrow) {
  EXPECT_EQ(LinedUp({.worker = 1, .elastic = 1}), "Collective: worker 1, until worker, elastic");
}

TEST(ModeTest, MorePodsThanAJobCanCount) {
  EXPECT_EQ(LinedUp({.ps = 2147483647, .worker = 1}), "E-REPLICAS spec.worker.replicas");
  EXPECT_EQ(LinedUp({.worker = 2147483647}), "Collective: worker 2147483647, until worker");
}

}  // namespace
}  // namespace gangway::convert
