// Names of a job and what is made from them: table G of tests/spec/paddle.rows (docs/paddlejob.md).
#include "translator/convert/names.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "api/name.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gangway::convert {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string Letters(int n) { return std::string(static_cast<std::size_t>(n), 'a'); }

std::vector<std::string> Told(const Findings& findings) {
  std::vector<std::string> out;
  for (const Finding& finding : findings) out.push_back(finding.ToString());
  return out;
}

std::vector<std::string> Check(const std::string& job, const std::vector<TaskSize>& tasks) {
  return Told(CheckName(job, tasks, {}));
}

auto TooLong(int max) {
  return AllOf(HasSubstr("E-NAME-LENGTH metadata.name: "), HasSubstr(absl::StrCat("at most ", max, " fit")));
}

const std::vector<TaskSize> kTwoAndTwo{{"ps", 2}, {"worker", 2}};

TEST(NamesTest, G1GoodName) { EXPECT_THAT(Check("wd", kTwoAndTwo), IsEmpty()); }

TEST(NamesTest, G2DigitFirst) {
  EXPECT_THAT(Check("1job", kTwoAndTwo), ElementsAre(AllOf(HasSubstr("E-NAME metadata.name: Invalid value: \"1job\": "),
                                                           HasSubstr("(for example job-1job)"))));
}

TEST(NamesTest, G3Dot) {
  EXPECT_THAT(Check("a.b", kTwoAndTwo),
              ElementsAre(AllOf(HasSubstr("E-NAME metadata.name"), HasSubstr("(for example a-b)"))));
}

TEST(NamesTest, G4LongestForTenWorkers) { EXPECT_THAT(Check(Letters(54), {{"worker", 10}}), IsEmpty()); }

TEST(NamesTest, G5EleventhWorker) { EXPECT_THAT(Check(Letters(54), {{"worker", 11}}), ElementsAre(TooLong(53))); }

TEST(NamesTest, G6OneServer) {
  EXPECT_THAT(Check(Letters(60), {{"ps", 1}}),
              ElementsAre(AllOf(TooLong(58), HasSubstr("has 60 characters, at most 58 fit with 1 ps pod "))));
}

// However long: what is wrong with them is only their length.
TEST(NamesTest, LongNamesAreToldOfTheirLengthAlone) {
  for (const int letters : {62, 63, 64, 300})
    EXPECT_THAT(Check(Letters(letters), {{"worker", 1}}), ElementsAre(TooLong(54))) << letters;
}

TEST(NamesTest, G7TheLongestRoleDecides) {
  EXPECT_THAT(Check(Letters(58), {{"ps", 10}, {"worker", 1}}), ElementsAre(TooLong(54)));
}

TEST(NamesTest, G8ServiceOfAnotherOwner) {
  const std::vector<ForeignObject> foreign{{&api::kServices, "wd", "deployment web"}, {&api::kServices, "other", ""}};
  EXPECT_THAT(Told(CheckClashes("wd", kTwoAndTwo, {}, foreign)),
              ElementsAre(AllOf(HasSubstr("E-SVC-CLASH metadata.name: Duplicate value: \"wd\""),
                                HasSubstr("service wd belongs to deployment web"))));
}

TEST(NamesTest, G9ConfigMapMattersOnlyWhereOneIsNeeded) {
  const std::vector<ForeignObject> foreign{{&api::kConfigMaps, "wd", ""}};
  EXPECT_THAT(CheckClashes("wd", kTwoAndTwo, {}, foreign), IsEmpty());
  EXPECT_THAT(Told(CheckClashes("wd", kTwoAndTwo, {.paddle_config_map = true}, foreign)),
              ElementsAre(AllOf(HasSubstr("E-SVC-CLASH"), HasSubstr("configmap wd is not the job's"))));
}

TEST(NamesTest, G10PodGroupThatStockVolcanoWouldAdopt) {
  const std::vector<ForeignObject> foreign{{&api::kPodGroups, "wd", ""}};
  EXPECT_THAT(Told(CheckClashes("wd", kTwoAndTwo, {.stock_volcano = true}, foreign)),
              ElementsAre(HasSubstr("E-PG-CLASH metadata.name")));
  EXPECT_THAT(CheckClashes("wd", kTwoAndTwo, {}, foreign), IsEmpty()) << "our controller makes its own beside it";
}

TEST(NamesTest, G11HundredWorkers) {
  EXPECT_THAT(Check(Letters(53), {{"worker", 100}}), IsEmpty());
  EXPECT_THAT(Check(Letters(54), {{"worker", 100}}), ElementsAre(TooLong(53)));
}

TEST(NamesTest, MostCharactersByRoleAndReplicas) {
  struct Case {
    TaskSize task;
    int max;
  };
  const std::vector<Case> cases{{{"ps", 1}, 58},        {{"ps", 10}, 58},     {{"ps", 11}, 57},
                                {{"ps", 100}, 57},      {{"worker", 10}, 54}, {{"worker", 100}, 53},
                                {{"worker", 1000}, 52}, {{"heter", 10}, 55}};
  for (const Case& c : cases) {
    EXPECT_EQ(MaxJobName({c.task}, {}), c.max) << c.task.name << " " << c.task.replicas;
    EXPECT_LE(PodName(Letters(c.max), c.task.name, c.task.replicas - 1).size(), 63u);
  }
  EXPECT_EQ(MaxJobName({}, {}), 59) << "the volume of the host list";
}

TEST(NamesTest, AbsoluteNamesHaveToFitToo) {
  const NameStyle style{.absolute = true, .ns = Letters(63), .cluster_domain = Letters(90)};
  const int max = MaxJobName({{"worker", 10}}, style);
  EXPECT_EQ(max, 42);
  EXPECT_LE(HostName(Letters(max), "worker", 9, style).size(), 253u);
  EXPECT_GT(HostName(Letters(max + 1), "worker", 9, style).size(), 253u);
  EXPECT_EQ(MaxJobName({{"worker", 10}}, {.absolute = true, .ns = "n", .cluster_domain = Letters(250)}), 0);
}

TEST(NamesTest, HostsHoldADot) {
  EXPECT_THAT(HostNames("wd", {"ps", 2}, {}), ElementsAre("wd-ps-0.wd", "wd-ps-1.wd"));
  EXPECT_THAT(HostNames("wd", {"ps", 1}, {.absolute = true, .ns = "default", .cluster_domain = "cluster.local"}),
              ElementsAre("wd-ps-0.wd.default.svc.cluster.local"));
}

TEST(SuggestNameTest, IsGoodForTheJobItIsMeantFor) {
  const std::vector<std::string> names{"",
                                       "-",
                                       "1",
                                       "A_B",
                                       "a..b",
                                       "été",
                                       "x" + Letters(300),
                                       "Résumé/2024",
                                       "--a--",
                                       std::string("a\0b", 3),
                                       "0" + Letters(57),
                                       Letters(7) + "-" + Letters(60)};
  for (const std::vector<TaskSize>& tasks :
       std::vector<std::vector<TaskSize>>{{{"worker", 1}}, {{"ps", 5000}, {"worker", 400}}, {{"worker", 2147483647}}}) {
    for (const std::string& name : names) {
      const std::string suggested = SuggestName(name, MaxJobName(tasks, {}));
      EXPECT_THAT(CheckName(suggested, tasks, {}), IsEmpty()) << name << " -> " << suggested;
    }
  }
  EXPECT_EQ(SuggestName("My_Job.v2", 54), "my-job-v2");
  EXPECT_EQ(SuggestName("wd", 7), "") << "nothing sensible fits";
}

TEST(SuggestNameTest, NamesThatDifferAtTheEndStayDifferent) {
  std::set<std::string> suggested;
  for (int i = 0; i < 100; ++i) suggested.insert(SuggestName(absl::StrCat(Letters(60), "-", i), 54));
  EXPECT_EQ(suggested.size(), 100u);
  EXPECT_EQ(suggested.begin()->size(), 54u);
}

TEST(ClashesTest, EveryObjectThatIsNeededAndNoOther) {
  const std::vector<ForeignObject> foreign{{&api::kServices, "wd-ps-0", ""},
                                           {&api::kServices, "wd-ps-1", ""},
                                           {&api::kServices, "wd-ps-2", ""},
                                           {&api::kServices, "wd-ps-01", ""},
                                           {&api::kConfigMaps, "wd-paddle-env", ""},
                                           {&api::kConfigMaps, "wd-svc", "job x"},
                                           {&api::kSecrets, "wd", ""}};
  EXPECT_THAT(Told(CheckClashes("wd", kTwoAndTwo, {}, foreign)),
              ElementsAre(HasSubstr("configmap wd-svc belongs to job x")));
  EXPECT_THAT(Told(CheckClashes("wd", kTwoAndTwo, {.env_config_map = true, .pod_services = true}, foreign)),
              ElementsAre(HasSubstr("configmap wd-paddle-env is not"), HasSubstr("configmap wd-svc belongs"),
                          HasSubstr("service wd-ps-0 is not"), HasSubstr("service wd-ps-1 is not")));
}

}  // namespace
}  // namespace gangway::convert
