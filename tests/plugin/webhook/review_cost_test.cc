// What the dearest reviews cost, counted in bytes that are allocated: the most at a time is memory, and all together is
// work, since whoever writes a path or a text again and again allocates it again and again.
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <new>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "api/json_value.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "plugin/webhook/review.h"
#include "tests/testing/status_matchers.h"

namespace {

std::atomic<std::int64_t> live = 0, most = 0, allocated = 0;

void* Counted(void* p) {
  if (p == nullptr) std::abort();
  const auto bytes = static_cast<std::int64_t>(malloc_usable_size(p));
  allocated += bytes;
  const std::int64_t now = live += bytes;
  if (now > most) most = now;  // of one thread
  return p;
}
void Release(void* p) {
  if (p != nullptr) live -= static_cast<std::int64_t>(malloc_usable_size(p));
  std::free(p);
}

}  // namespace

void* operator new(std::size_t size) { return Counted(std::malloc(size)); }
void* operator new[](std::size_t size) { return Counted(std::malloc(size)); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return Counted(std::malloc(size)); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return Counted(std::malloc(size)); }
void* operator new(std::size_t size, std::align_val_t align) {
  return Counted(std::aligned_alloc(static_cast<std::size_t>(align), (size + 63) / 64 * 64));
}
void operator delete(void* p) noexcept { Release(p); }
void operator delete[](void* p) noexcept { Release(p); }
void operator delete(void* p, std::size_t) noexcept { Release(p); }
void operator delete[](void* p, std::size_t) noexcept { Release(p); }
void operator delete(void* p, std::align_val_t) noexcept { Release(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { Release(p); }

namespace gangway::webhook {
namespace {

constexpr std::size_t kMiB = 1u << 20;
// What a review may be, less its envelope.
const std::size_t kBytes = ReviewLimits().max_bytes - 4096;
const std::size_t kValues = ReviewLimits().max_values - 200;

// `item` again and again, as often as a review may hold it: it has so many values.
std::string Many(const std::string& item, std::size_t values) {
  const std::size_t n = std::min(kBytes / (item.size() + 1), kValues / values);
  std::string out = item;
  for (std::size_t i = 1; i < n; ++i) absl::StrAppend(&out, ",", item);
  return out;
}
std::string Each(std::size_t n, const std::function<std::string(std::size_t)>& item) {
  std::vector<std::string> items;
  for (std::size_t i = 0; i < n; ++i) items.push_back(item(i));
  return absl::StrJoin(items, ",");
}
std::string Long(std::size_t bytes) { return std::string(bytes, 'k'); }

std::string Review(const std::string& group_version_resource, const std::string& object,
                   const std::string& old_object = "") {
  const std::vector<std::string> of = absl::StrSplit(group_version_resource, ' ');
  return absl::StrCat(
      R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","namespace":"default","operation":")",
      old_object.empty() ? "CREATE" : "UPDATE", R"(","resource":{"group":")", of[0], R"(","version":")", of[1],
      R"(","resource":")", of[2], R"("},"object":)", object, old_object.empty() ? "" : R"(,"oldObject":)", old_object,
      "}}");
}
const char* const kJobs = "batch.volcano.sh v1alpha1 jobs";
const char* const kTask = R"({"name":"t","template":{"spec":{"containers":[{"name":"c","image":"i"}]}}})";

std::string Job(const std::string& tasks, const std::string& more = "", const std::string& name = R"("name":"j")") {
  return absl::StrCat(R"({"metadata":{)", name, R"(},"spec":{"tasks":[)", tasks, "]", more, "}}");
}
std::string JobWith(const std::string& more) { return Review(kJobs, Job(kTask, more)); }
std::string JobWithPods(const std::string& pod) {
  return Review(kJobs, Job(absl::StrCat(R"({"name":"t","template":{"spec":{)", pod, "}}}")));
}
std::string Flows(const std::string& flows) {
  return Review("flow.volcano.sh v1alpha1 jobflows",
                absl::StrCat(R"({"metadata":{"name":"f"},"spec":{"flows":[)", flows, "]}}"));
}
// A template of a long key with many values below it.
std::string LongTemplate(std::size_t key, std::size_t values) {
  return absl::StrCat(R"({"name":"t","template":{"x":{")", Long(key), R"(":{)",
                      Each(values, [](std::size_t i) { return absl::StrCat("\"", i, "\":0"); }), "}}}}");
}

struct Dear {
  const char* name;
  std::function<std::string()> review;
  friend void PrintTo(const Dear& dear, std::ostream* out) { *out << dear.name; }
};
class ReviewCostTest : public ::testing::TestWithParam<Dear> {};

TEST_P(ReviewCostTest, IsBounded) {
  const std::string review = GetParam().review();
  for (const Step step : {Step::kMutate, Step::kValidate}) {
    const std::int64_t before = live;
    most = before;
    allocated = 0;
    const absl::StatusOr<std::string> answer = AnswerReview(step, review, nullptr, nullptr);
    const std::int64_t at_once = most - before + static_cast<std::int64_t>(review.size()), all = allocated;
    RecordProperty(step == Step::kMutate ? "mutate_bytes" : "validate_bytes", static_cast<int>(at_once));
    EXPECT_LE(at_once, 64 * kMiB) << review.size() << " bytes of review";
    EXPECT_LE(all, 512 * kMiB) << review.size() << " bytes of review";
    EXPECT_LE(answer.ok() ? answer->size() : 0, 6 * kMiB);
    EXPECT_THAT(std::string(answer.status().message()),
                ::testing::Not(::testing::AnyOf(::testing::HasSubstr("more than"), ::testing::HasSubstr("the limit"))))
        << "what is refused at once shows nothing";
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, ReviewCostTest,
    ::testing::Values(
        Dear{"TasksOfNothing", [] { return Review(kJobs, Job(Many("{}", 2))); }},
        Dear{"TasksOfOneField", [] { return Review(kJobs, Job(Many(R"({"":0})", 2))); }},
        Dear{"AsManyTasksAsThereMayBe",
             [] {
               return Review(kJobs, Job(Each(5000, [](std::size_t i) {
                               return absl::StrCat(
                                   R"({"name":"t)", i,
                                   R"(","template":{"spec":{"containers":[{"name":"c","image":"i"}]}}})");
                             })));
             }},
        Dear{"AsManyTasksOfNothing", [] { return Review(kJobs, Job(Each(5000, [](std::size_t) { return "{}"; }))); }},
        Dear{"TasksThatAreNumbers", [] { return Review(kJobs, Job(Each(5000, [](std::size_t) { return "0"; }))); }},
        Dear{"PoliciesOfTasks",
             [] {
               return Review(
                   kJobs, Job(Many(absl::StrCat(R"({"policies":[)", Each(4900, [](std::size_t) { return "{}"; }), "]}"),
                                   9803)));
             }},
        Dear{"SubGroups",
             [] {
               return Review(
                   "scheduling.volcano.sh v1beta1 podgroups",
                   absl::StrCat(R"({"metadata":{"name":"g"},"spec":{"subGroupPolicy":[)", Many("{}", 2), "]}}"));
             }},
        Dear{"AsManySubGroupsAsThereMayBe",
             [] {
               return Review("scheduling.volcano.sh v1beta1 podgroups",
                             absl::StrCat(R"({"metadata":{"name":"g"},"spec":{"subGroupPolicy":[)",
                                          Each(5000, [](std::size_t) { return "{}"; }), "]}}"));
             }},
        Dear{"Policies", [] { return JobWith(absl::StrCat(R"(,"policies":[)", Many(R"({"":0})", 2), "]")); }},
        Dear{"Claims",
             [] {
               return JobWith(
                   absl::StrCat(R"(,"volumes":[)", Each(5000, [](std::size_t) { return R"({"":0})"; }), "]"));
             }},
        Dear{"Members", [] { return Review(kJobs, absl::StrCat("{", Many(R"("":0)", 1), "}")); }},
        Dear{"DistinctMembers",
             [] {
               return Review(
                   kJobs,
                   absl::StrCat("{", Each(kValues, [](std::size_t i) { return absl::StrCat("\"", i, "\":0"); }), "}"));
             }},
        Dear{"NotAReview", [] { return absl::StrCat("[", Many(R"({"":0})", 2), "]"); }},
        Dear{"FlagsUnderALongName",
             [] {
               return JobWith(absl::StrCat(R"(,"plugins":{")", Long(kBytes / 2), R"(":[)",
                                           Each(kValues - 20, [](std::size_t) { return R"("")"; }), "]}"));
             }},
        Dear{"WrongFlagsUnderALongName",
             [] {
               return JobWith(absl::StrCat(R"(,"plugins":{")", Long(kBytes / 2), R"(":[)",
                                           Each(kValues - 20, [](std::size_t) { return "0"; }), "]}"));
             }},
        Dear{"ALongNameOfManyTasks",
             [] {
               return Review(
                   kJobs, Job(Each(5000, [](std::size_t i) { return absl::StrCat(R"({"name":"t)", i, R"("})"); }), "",
                              absl::StrCat(R"("generateName":")", Long(kBytes - 100'000), "\"")));
             }},
        Dear{"ALongName",
             [] { return Review(kJobs, Job(kTask, "", absl::StrCat(R"("name":")", Long(kBytes - 500), "\""))); }},
        Dear{"FlowsThatWaitForNobody",
             [] { return Flows(Each(5000, [](std::size_t i) { return absl::StrCat(R"({"name":"n)", i, R"("})"); })); }},
        Dear{"FlowsThatWaitForNoFlow",
             [] {
               return Flows(Each(5000, [](std::size_t i) {
                 return absl::StrCat(R"({"name":"n)", i, R"(","dependsOn":{"targets":[)",
                                     Each(20, [](std::size_t k) { return absl::StrCat("\"x", k, "\""); }), "]}}");
               }));
             }},
        Dear{"TasksThatAllWaitForEachOther",
             [] {
               return Review(
                   kJobs, Job(Each(350, [](std::size_t i) {
                     return absl::StrCat(
                         R"({"name":"t)", i,
                         R"(","template":{"spec":{"containers":[{"name":"c","image":"i"}]}},"dependsOn":{"name":[)",
                         Each(350, [](std::size_t k) { return absl::StrCat("\"t", k, "\""); }), "]}}");
                   })));
             }},
        Dear{"WeightsOfAHierarchy",
             [] {
               return Review("scheduling.volcano.sh v1beta1 queues",
                             absl::StrCat(R"({"metadata":{"name":"q","annotations":{"volcano.sh/hierarchy":")",
                                          std::string(kBytes / 2 - 500, '/'), R"(","volcano.sh/hierarchy-weights":")",
                                          std::string(kBytes / 2 - 500, '/'), R"("}},"spec":{"weight":1}})"));
             }},
        Dear{"ALongKeyOverManyValues", [] { return Review(kJobs, Job(LongTemplate(kBytes / 2, 120'000))); }},
        Dear{"AChangeBesideALongKeyOverManyValues",
             [] {
               return Review(kJobs, Job(LongTemplate(kBytes / 4, 60'000)),
                             Job(LongTemplate(kBytes / 4, 60'000), R"(,"queue":"b")"));
             }},
        Dear{"AChangeOfALargeJob",
             [] {
               return Review(
                   kJobs,
                   Job(Each(1000,
                            [](std::size_t i) {
                              return absl::StrCat(R"({"name":"t)", i, R"(","template":)",
                                                  R"({"spec":{"containers":[{"name":"c","image":"i","env":[)",
                                                  Each(20,
                                                       [](std::size_t k) {
                                                         return absl::StrCat(R"({"name":"E)", k, R"(","value":"v"})");
                                                       }),
                                                  "]}]}}}");
                            })),
                   Job(Each(1000,
                            [](std::size_t i) {
                              return absl::StrCat(R"({"name":"t)", i, R"(","template":)",
                                                  R"({"spec":{"containers":[{"name":"c","image":"i","env":[)",
                                                  Each(20,
                                                       [](std::size_t k) {
                                                         return absl::StrCat(R"({"name":"E)", k, R"(","value":"v"})");
                                                       }),
                                                  "]}]}}}");
                            }),
                       R"(,"queue":"b")"));
             }},
        Dear{"Containers", [] { return JobWithPods(absl::StrCat(R"("containers":[)", Many(R"({"":0})", 2), "]")); }},
        Dear{"DistinctContainers",
             [] {
               return JobWithPods(absl::StrCat(
                   R"("containers":[)",
                   Each(45'000, [](std::size_t i) { return absl::StrCat(R"({"name":"c)", i, R"(","image":"i"})"); }),
                   "]"));
             }},
        Dear{"VolumesAndMounts",
             [] {
               return JobWithPods(absl::StrCat(
                   R"("volumes":[)",
                   Each(15'000, [](std::size_t i) { return absl::StrCat(R"({"name":"v)", i, R"(","emptyDir":{}})"); }),
                   R"(],"containers":[{"name":"c","image":"i","volumeMounts":[)",
                   Each(15'000,
                        [](std::size_t i) {
                          return absl::StrCat(R"({"name":"v)", i, R"(","mountPath":"/m)", i, "\"}");
                        }),
                   "]}]"));
             }},
        Dear{"Environment",
             [] {
               return JobWithPods(
                   absl::StrCat(R"("containers":[{"name":"c","image":"i","env":[)", Many(R"({"name":"A"})", 2), "]}]"));
             }},
        Dear{"Ports",
             [] {
               return JobWithPods(absl::StrCat(R"("containers":[{"name":"c","image":"i","ports":[)",
                                               Many(R"({"containerPort":1,"hostPort":1})", 3), "]}]"));
             }},
        Dear{"Labels",
             [] {
               return Review(
                   kJobs, Job(absl::StrCat(
                              R"({"name":"t","template":{"metadata":{"labels":{)",
                              Each(140'000, [](std::size_t i) { return absl::StrCat("\"_", i, "\":\"\""); }), "}}}}")));
             }}),
    [](const auto& c) { return c.param.name; });

TEST(ReviewLimitsTest, WhatIsBeyondThemIsToldSo) {
  ReviewLimits limits;
  limits.max_values = 30;
  const std::string review = Review(kJobs, Job(kTask));
  GW_EXPECT_OK(AnswerReview(Step::kMutate, review, nullptr, nullptr, limits));
  EXPECT_THAT(
      AnswerReview(Step::kMutate, Review(kJobs, Job(absl::StrCat(kTask, ",", kTask))), nullptr, nullptr, limits),
      testutil::StatusIs(absl::StatusCode::kInvalidArgument, ::testing::HasSubstr("more than 30 values")));
  limits.max_patch_bytes = 0;
  while (!AnswerReview(Step::kMutate, review, nullptr, nullptr, limits).ok() && limits.max_patch_bytes < 10'000)
    ++limits.max_patch_bytes;
  const std::size_t bytes = limits.max_patch_bytes--;
  EXPECT_THAT(
      AnswerReview(Step::kMutate, review, nullptr, nullptr, limits),
      testutil::StatusIs(absl::StatusCode::kResourceExhausted,
                         ::testing::HasSubstr(absl::StrCat("would have ", bytes, " bytes, the limit is ", bytes - 1))));
  limits.max_bytes = 200;
  EXPECT_THAT(
      AnswerReview(Step::kMutate, review, nullptr, nullptr, limits),
      testutil::StatusIs(absl::StatusCode::kInvalidArgument, ::testing::HasSubstr("bytes of JSON, the limit is 200")));
}

TEST(ReviewLimitsTest, TooManyTasksAreRefusedWithTheirNumber) {
  const absl::StatusOr<std::string> answer =
      AnswerReview(Step::kValidate, Review(kJobs, Job(Each(5001, [](std::size_t) { return "{}"; }))), nullptr, nullptr);
  GW_ASSERT_OK(answer);
  EXPECT_THAT(*answer, ::testing::HasSubstr("spec.tasks: Invalid value: 5001: must have at most 5000 items"));
}

}  // namespace
}  // namespace gangway::webhook
