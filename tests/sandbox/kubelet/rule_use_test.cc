#include "sandbox/kubelet/rule_use.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gangway::sandbox {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

api::ObjectMeta PodOf(const std::string& job, const std::string& task, int index) {
  api::ObjectMeta pod;
  pod.name = absl::StrCat(job, "-", task, "-", index);
  pod.annotations = {{"volcano.sh/task-spec", task}, {"volcano.sh/task-index", absl::StrCat(index)}};
  return pod;
}

TEST(RuleUseTest, RulesThatFitNothingAreTold) {
  RuleUse use;
  use.Add("--finish", {"traner=5s", "pserver=1s", "ctr-trainer-1=2s"});
  use.Add("--fail", {"trainer-7=3s:137x1", "zzz=1s"});
  EXPECT_THAT(use.Unused(), IsEmpty()) << "there was no pod yet";
  use.See(PodOf("ctr", "pserver", 0));
  use.See(PodOf("ctr", "trainer", 0));
  use.See(PodOf("ctr", "trainer", 1));
  EXPECT_THAT(use.Unused(),
              ElementsAre("--finish traner=5s: no pod has been of that name or task; did you mean trainer?",
                          "--fail trainer-7=3s:137x1: no pod has been of that name or task; did you mean trainer?",
                          "--fail zzz=1s: no pod has been of that name or task; there have been pserver, trainer, "
                          "ctr-pserver-0, ctr-trainer-0, ctr-trainer-1"));
  use.See(PodOf("ctr", "trainer", 7));
  use.See(PodOf("more", "traner", 0));
  use.See(PodOf("zzz", "w", 0));
  EXPECT_THAT(use.Unused(), testing::SizeIs(1)) << "each has fitted by now but zzz";
}

TEST(RuleUseTest, NoRulesNothingToTell) {
  RuleUse use;
  use.See(PodOf("ctr", "trainer", 0));
  EXPECT_THAT(use.Unused(), IsEmpty());
}

}  // namespace
}  // namespace gangway::sandbox
