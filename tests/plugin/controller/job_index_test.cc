// Rows H4 to H10 and H16 of tests/spec/volcano-job.rows: which pods are known of a Job.
#include "plugin/controller/job_index.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "plugin/lifecycle/job/job_pod.h"

namespace gangway::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const JobKey kJob{"default", "job1"};

class JobIndexTest : public ::testing::Test {
 protected:
  void Put(const std::string& name, const std::string& phase, const std::string& metadata = "") {
    const auto pod = api::Decode<api::core::Pod>(absl::StrCat(
        R"({"metadata":{"name":")", name, R"(","namespace":"default","uid":"uid-)", name,
        R"(","annotations":{"volcano.sh/task-spec":"task1")", annotation_,
        R"(},"ownerReferences":[{"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","name":"job1","uid":"job-uid","controller":true}])",
        metadata, R"(},"status":{"phase":")", phase, R"("}})"));
    ASSERT_TRUE(pod.ok()) << pod.status();
    EXPECT_EQ(index_.PutPod({"default", name}, &*pod), kJob);
  }
  void Delete(const std::string& name) { index_.PutPod({"default", name}, nullptr); }
  std::vector<std::string> Known() {
    lifecycle::JobView view;
    index_.Fill(kJob, "job-uid", view);
    std::vector<std::string> out;
    if (view.pods == nullptr) return out;
    for (const auto& [name, pod] : *view.pods) {
      out.push_back(absl::StrCat(name, " ", pod.task, " ", pod.deleting ? "-" : "", lifecycle::NameOf(pod.phase)));
    }
    return out;
  }
  lifecycle::JobView View() {
    lifecycle::JobView view;
    index_.Fill(kJob, "job-uid", view);
    return view;
  }

  JobIndex index_;
  std::string annotation_;
};

constexpr char kDeleting[] = R"(,"deletionTimestamp":"2026-01-01T00:00:00Z","deletionGracePeriodSeconds":30)";

TEST_F(JobIndexTest, H4APodIsAdded) {
  Put("pod1", "Pending");
  EXPECT_THAT(Known(), ElementsAre("pod1 task1 Pending"));
}

TEST_F(JobIndexTest, HowAPodFailedIsKnownUntilItsLossIsAnswered) {
  Put("pod1", "Failed");
  Put("pod2", "Running");
  Delete("pod1");
  Delete("pod2");
  ASSERT_NE(View().leaving_failures, nullptr);
  EXPECT_EQ(View().leaving_failures->size(), 1u);
  EXPECT_TRUE(View().leaving_failures->contains("pod1"));
  index_.ForgetLeaving(kJob);
  EXPECT_TRUE(View().leaving_failures == nullptr || View().leaving_failures->empty());
}

TEST_F(JobIndexTest, H5TheSamePodTwice) {
  Put("pod1", "Pending");
  Put("pod1", "Pending");
  EXPECT_THAT(Known(), ElementsAre("pod1 task1 Pending"));
}

TEST_F(JobIndexTest, H6APodThatIsBeingDeletedIsKnown) {
  Put("pod1", "Running", kDeleting);
  EXPECT_THAT(Known(), ElementsAre("pod1 task1 -Running"));
}

TEST_F(JobIndexTest, H7ThePhaseFollows) {
  for (const char* phase : {"Running", "Failed"}) {
    Put("pod1", "Pending");
    Put("pod1", phase);
    EXPECT_THAT(Known(), ElementsAre(absl::StrCat("pod1 task1 ", phase)));
  }
}

TEST_F(JobIndexTest, H8ADeletionThatBeginsRemovesNothing) {
  Put("pod1", "Running");
  Put("pod1", "Running", kDeleting);
  EXPECT_THAT(Known(), ElementsAre("pod1 task1 -Running"));
  EXPECT_FALSE(View().seen_leaving->contains("pod1"));
}

TEST_F(JobIndexTest, H9ADeletedPodIsGoneAndWasSeenLeaving) {
  Put("pod1", "Running");
  Put("pod2", "Running");
  Delete("pod2");
  EXPECT_THAT(Known(), ElementsAre("pod1 task1 Running"));
  EXPECT_TRUE(View().seen_leaving->contains("pod2"));
}

TEST_F(JobIndexTest, H10AnUnknownPodIsDeleted) {
  Put("pod1", "Running");
  Put("pod2", "Running");
  Delete("pod3");
  EXPECT_THAT(Known(), ElementsAre("pod1 task1 Running", "pod2 task1 Running"));
  EXPECT_FALSE(View().seen_leaving->contains("pod3"));
}

// Volcano's controller marks what it kills. When such a pod goes, nobody evicted it.
TEST_F(JobIndexTest, H16APodMarkedOutOfSyncGoesWithoutAnEvent) {
  annotation_ = R"(,"volcano.sh/controller-out-of-sync":"true")";
  Put("pod1", "Running");
  EXPECT_THAT(*View().released_leaving, IsEmpty());
  Delete("pod1");
  EXPECT_TRUE(View().released_leaving->contains("pod1"));
}

}  // namespace
}  // namespace gangway::controller
