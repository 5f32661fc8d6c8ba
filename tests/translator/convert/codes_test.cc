// The codes that users read, and how a finding is told.
#include "translator/convert/codes.h"

#include "absl/strings/str_split.h"
#include "base/strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gangway::convert {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

TEST(CodesTest, AllOfTheContractAndAFewOfOurs) {
  const std::vector<std::string> promised = absl::StrSplit(
      "E-EMPTY E-NAME E-NAME-LENGTH E-REPLICAS E-MIN-AVAILABLE E-ENUM E-SCHEDULER E-HETER E-ELASTIC E-ENV-TOO-LARGE "
      "E-IP E-DNS E-VOLCANO-OLD "
      "E-PG-CLASH E-SVC-CLASH E-TWO-CONTROLLERS E-QUEUE E-NO-CONTAINER "
      "E-TYPE E-UNKNOWN-FIELD E-REFUSED E-DUPLICATE E-KIND E-YAML "  // ours: of whole files, and for what the contract
                                                                     // has no code
      "W-ZERO-REPLICAS W-UNUSED W-FINALIZERS W-LABEL W-HOSTNAME W-RESTART-ALWAYS W-PARTIAL-GANG W-MIN-AVAILABLE "
      "W-MIN-RESOURCES W-ENUM W-GLOO2 "
      "W-ELASTIC0 W-CLEAN W-SAMPLESET W-ENV-RESERVED W-DNS W-HOST-NODES W-PG-DROPPED W-ISTIO W-EXITCODE W-BACKOFF "
      "W-DEADLINE W-GRACE W-POLICY "
      "W-UNKNOWN-FIELD W-DEPRECATED W-RETRY W-SHM W-POD-IP W-NOT-IN-JOBS "
      "I-PRIORITY I-INTRANET I-ENV-USER I-RESTART",
      ' ');
  std::vector<std::string> there;
  for (const CodeEntry& entry : Codes()) there.emplace_back(entry.name);
  EXPECT_THAT(there, ElementsAreArray(promised));
}

TEST(CodesTest, EachSaysWhatIsSoAndWhatToDo) {
  for (const CodeEntry& entry : Codes()) {
    EXPECT_FALSE(entry.rule.empty()) << entry.name;
    EXPECT_EQ(entry.fix.empty(), entry.level() == Level::kInfo)
        << entry.name << ": there is something to do about all but infos";
    EXPECT_EQ(EntryOf(entry.code).name, entry.name);
  }
}

TEST(FindingTest, ErrorsReadLikeThoseOfAdmission) {
  EXPECT_EQ(
      MakeFinding(Code::kReplicas, "spec.worker.replicas", "-1").ToString(),
      "E-REPLICAS spec.worker.replicas: Invalid value: -1: must be at least 0 (leave the role out if it has no pods)");
  EXPECT_EQ(MakeFinding(Code::kEmpty, "spec").ToString(),
            "E-EMPTY spec: Required value: no role has a pod, so there is nothing to run (give spec.worker at least "
            "one replica)");
}

TEST(FindingTest, WarningsAndInfosSayWhatIsDone) {
  EXPECT_EQ(MakeFinding(Code::kEnumIgnored, "spec.cleanPodPolicy", "\"OnFailed\"", "is read as Never",
                        "did you mean OnFailure?")
                .ToString(),
            "W-ENUM spec.cleanPodPolicy: \"OnFailed\": is read as Never (did you mean OnFailure?)");
  EXPECT_EQ(MakeFinding(Code::kIntranet, "spec.intranet").ToString(),
            "I-INTRANET spec.intranet: PodIP and Service are the same: endpoints are names");
  EXPECT_EQ(MakeFinding(Code::kRestart, "").ToString(),
            "I-RESTART a restart runs finished workers again: programs need checkpoints");
}

TEST(FindingTest, ToldInOneOrderWhateverWasFoundFirst) {
  const Finding info = MakeFinding(Code::kIntranet, "spec.intranet"),
                unused = MakeFinding(Code::kUnused, "spec.worker.limits"),
                zero = MakeFinding(Code::kZeroReplicas, "spec.ps.replicas", "0"),
                error = MakeFinding(Code::kName, "metadata.name"),
                other = MakeFinding(Code::kNameLength, "metadata.name");
  Findings one{info, unused, other, zero, error, unused}, two{error, zero, unused, other, info, info};
  Arrange(one);
  Arrange(two);
  EXPECT_EQ(one, two);
  EXPECT_THAT(one, ElementsAre(error, other, zero, unused, info));
  EXPECT_TRUE(HasErrors(one));
  EXPECT_FALSE(HasErrors({info, unused}));
}

}  // namespace
}  // namespace gangway::convert
