// What the Jobs of both dialects have in common: borders of Linux, of Volcano's schema and of names.
#include "translator/convert/job_parts.h"

#include <boost/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gangway::convert {
namespace {

using ::testing::HasSubstr;

// "E-QUEUE spec.queue; E-REFUSED spec.priorityClass"
std::string Told(const Findings& findings) {
  return absl::StrJoin(findings, "; ", [](std::string* out, const Finding& one) {
    absl::StrAppend(out, View(EntryOf(one.code).name), " ", one.error.field);
  });
}
std::string Letters(std::size_t n) { return std::string(n, 'a'); }

TEST(JobPartsTest, TheLengthOfAListIsKnownWithoutTheList) {
  for (const NameStyle& style :
       {NameStyle{}, NameStyle{.absolute = true, .ns = "default", .cluster_domain = "cluster.local"}}) {
    for (const std::int32_t replicas : {0, 1, 2, 9, 10, 11, 99, 100, 101, 1000, 1001}) {
      const TaskSize task{"worker", replicas};
      std::string list;
      for (const std::string& host : HostNames("wd", task, style))
        absl::StrAppend(&list, list.empty() ? "" : ",", host, ":36000");
      EXPECT_EQ(ListBytes("wd", task, style), static_cast<std::int64_t>(list.size())) << replicas;
    }
  }
}

// 128 KiB with the name of the variable, of which none is longer than 64.
TEST(JobPartsTest, AListFitsIntoOneVariableOrIsTold) {
  constexpr std::int64_t kMost = 128 * 1024 - 64;
  std::int32_t most = 0;
  while (ListBytes("wd", {"worker", most + 1}, {}) <= kMost) ++most;
  Findings findings;
  EXPECT_TRUE(ListFits("wd", {"worker", most}, {}, "spec.worker.replicas", findings));
  EXPECT_TRUE(findings.empty());
  EXPECT_FALSE(ListFits("wd", {"worker", most + 1}, {}, "spec.worker.replicas", findings));
  EXPECT_EQ(Told(findings), "E-ENV-TOO-LARGE spec.worker.replicas");
  // A name for which a list has just so many bytes.
  for (std::size_t letters = 1; letters <= 50; ++letters) {
    for (std::int32_t replicas = 1000; replicas < 6000; ++replicas) {
      if (ListBytes(Letters(letters), {"worker", replicas}, {}) != kMost) continue;
      EXPECT_TRUE(ListFits(Letters(letters), {"worker", replicas}, {}, "", findings));
    }
  }
}

TEST(JobPartsTest, ServicesOfSinglePodsAreMadeForTenThousand) {
  Findings findings;
  CheckPodServices(10'000, findings);
  EXPECT_TRUE(findings.empty());
  CheckPodServices(10'001, findings);
  EXPECT_EQ(Told(findings), "E-REFUSED metadata.annotations[paddle.gangway.io/per-pod-services]");
  EXPECT_THAT(findings[0].ToString(), HasSubstr("would make 10001 Services"));
}

TEST(JobPartsTest, AJobHasOneScheduler) {
  const auto scheduler = [](const std::vector<std::string>& names, Findings& findings) {
    std::vector<NamedScheduler> named;
    for (const std::string& name : names) named.push_back({absl::StrCat("spec.", named.size(), ".template"), name});
    return SchedulerOf(named, findings);
  };
  Findings none;
  EXPECT_EQ(scheduler({"", ""}, none), "");
  EXPECT_EQ(scheduler({"", "a", "a"}, none), "a");
  EXPECT_EQ(scheduler({Letters(63)}, none), Letters(63));
  EXPECT_EQ(Told(none), "");
  Findings two;
  scheduler({"a", "", "b"}, two);
  EXPECT_EQ(Told(two), "E-SCHEDULER spec.2.template.spec.schedulerName");
  EXPECT_THAT(two[0].ToString(), HasSubstr("another role names a"));
  Findings long_name;
  scheduler({Letters(64), Letters(64)}, long_name);
  EXPECT_EQ(Told(long_name),
            "E-SCHEDULER spec.0.template.spec.schedulerName; E-SCHEDULER spec.1.template.spec.schedulerName");
  EXPECT_THAT(long_name[0].ToString(), HasSubstr("is longer than 63 characters"));
}

TEST(JobPartsTest, NamesOfQueuesAndPriorityClasses) {
  const auto told = [](const GangWish& wish) {
    Findings findings;
    CheckWish(wish, "spec.p", findings);
    return Told(findings);
  };
  EXPECT_EQ(told({}), "");
  EXPECT_EQ(told({.queue = "ads", .priority_class = "high"}), "");
  EXPECT_EQ(told({.queue = "root"}), "E-QUEUE spec.p.queue");
  EXPECT_EQ(told({.queue = "A_B", .priority_class = "-x"}), "E-QUEUE spec.p.queue; E-REFUSED spec.p.priorityClass");
}

TEST(JobPartsTest, ATemplateIsReadOrToldOf) {
  Findings findings;
  EXPECT_FALSE(ParseTemplate({}, "spec.ps.template", {}, findings).has_value());
  EXPECT_FALSE(ParseTemplate({"{"}, "spec.worker.template", {}, findings).has_value());
  EXPECT_EQ(Told(findings), "E-NO-CONTAINER spec.ps.template; E-REFUSED spec.worker.template");
  findings.clear();
  EXPECT_TRUE(ParseTemplate({R"({"spec":{}})"}, "", {}, findings).has_value());
  EXPECT_TRUE(findings.empty());
}

TEST(JobPartsTest, AJobBeginsWithWhatIsAskedForElseWithTheNamespacesElseWithVolcanos) {
  api::ObjectMeta metadata;
  metadata.name = "wd";
  metadata.labels = {{"team", "ads"}};
  TranslateOptions options;
  EXPECT_EQ(BeginJob(metadata, {}, {}, options).spec.queue, "default");
  options.namespace_queue = "team";
  EXPECT_EQ(BeginJob(metadata, {}, {}, options).spec.queue, "team");
  const api::volcano::Job job =
      BeginJob(metadata, {.queue = "ads", .priority_class = "high"}, {.ttl_seconds = 9}, options);
  EXPECT_EQ(job.spec.queue, "ads");
  EXPECT_EQ(job.spec.priority_class_name, "high");
  EXPECT_EQ(job.spec.ttl_seconds_after_finished, 9);
  EXPECT_EQ(job.metadata.labels, metadata.labels);
  EXPECT_EQ(job.spec.scheduler_name, "volcano");
}

}  // namespace
}  // namespace gangway::convert
