// The webhook as an API server calls it: every recorded row through the handler, bad reviews, and when it may not
// answer.
#include <optional>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "api/schemas/json_patch.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "plugin/webhook/handler.h"
#include "plugin/webhook/review.h"
#include "tests/api/volcano/recorded_admission.h"
#include "tests/testing/status_matchers.h"

namespace gangway::webhook {
namespace {

using api::volcano::Json;
using api::volcano::Row;
using boost::json::value;
using ::testing::HasSubstr;

kube::Response Post(const std::string& path, const std::string& body, bool ready = true,
                    const std::string& method = "POST") {
  const auto namespace_queue = [](absl::string_view ns) { return ns == "team-ns" ? "team" : ""; };
  Handler handler([ready] { return ready; }, api::volcano::RecordedQueues, namespace_queue);
  std::optional<kube::Response> answer;
  handler.HandleRequest({method, path, "", "application/json", "", body}, {},
                        [&](kube::Response response) { answer = std::move(response); });
  return answer.value_or(kube::Response());
}

std::string Review(const api::Resource& resource, const std::string& operation, const value& object,
                   const value& old_object = nullptr, const std::string& subresource = "",
                   const std::string& ns = "g-admission") {
  const value& named = object.is_null() ? old_object : object;
  boost::json::object request{{"uid", "u-1"},
                              {"operation", operation},
                              {"object", object},
                              {"oldObject", old_object},
                              {"subResource", subresource}};
  request["resource"] = {{"group", resource.group}, {"version", resource.version}, {"resource", resource.plural}};
  boost::system::error_code unnamed;
  if (const value* name = named.find_pointer("/metadata/name", unnamed); name != nullptr) request["name"] = *name;
  if (resource.namespaced) request["namespace"] = ns;
  return api::ToJson(
      boost::json::object{{"apiVersion", "admission.k8s.io/v1"}, {"kind", "AdmissionReview"}, {"request", request}});
}

// The member "response".
value Answered(const std::string& path, const std::string& review) {
  const kube::Response response = Post(path, review);
  EXPECT_EQ(response.code, 200) << *response.body;
  const value answer = Json(*response.body);
  EXPECT_EQ(answer.at("apiVersion"), "admission.k8s.io/v1");
  EXPECT_EQ(answer.at("kind"), "AdmissionReview");
  EXPECT_EQ(answer.at("response").at("uid"), "u-1");
  return answer.at("response");
}

// What the API server makes of an object by the patch of /mutate.
value Mutated(const std::string& review, value object) {
  const value response = Answered("/mutate", review);
  EXPECT_EQ(response.at("allowed"), true);
  if (!response.as_object().contains("patch")) return object;
  EXPECT_EQ(response.at("patchType"), "JSONPatch");
  std::string patch;
  EXPECT_TRUE(absl::Base64Unescape(std::string(response.at("patch").as_string()), &patch));
  EXPECT_THAT(schemas::ApplyJsonPatch(object, Json(patch)), testutil::IsOk());
  return object;
}

const api::Resource& ResourceOf(const Row& row) {
  return row.group[0] == 'J' ? api::kJobs : row.group[0] == 'P' ? api::kPodGroups : api::kQueues;
}

std::string Where(const Row& row) { return absl::StrCat("row ", row.number, ": ", row.what); }

void ExpectRecorded(const Row& row, const value& response) {
  EXPECT_EQ(response.at("allowed"), row.status < 300) << api::ToJson(response);
  if (row.status < 300 || response.at("allowed") == true) return;
  EXPECT_EQ(response.at("status").at("code"), row.status);
  EXPECT_FALSE(response.at("status").at("message").as_string().empty());
  EXPECT_FALSE(response.at("status").at("details").at("causes").as_array().empty());
}

TEST(WebhookTest, EveryRecordedRowGetsItsVerdictAndItsDefaults) {
  int creates = 0, updates = 0, deletes = 0;
  for (const Row& row : api::volcano::Rows()) {
    SCOPED_TRACE(Where(row));
    const api::Resource& resource = ResourceOf(row);
    if (row.method == "POST") {
      ++creates;
      value filled = row.input;
      const api::volcano::AdmissionRequest request{
          .resource = &resource, .ns = resource.namespaced ? "g-admission" : "", .name = ""};
      const bool allowed = api::volcano::Admit(request, &filled, api::volcano::RecordedQueues).allowed();
      const value mutated = Mutated(Review(resource, "CREATE", row.input), row.input);
      if (allowed) {
        EXPECT_EQ(mutated, filled);
        EXPECT_EQ(Mutated(Review(resource, "CREATE", mutated), mutated), mutated) << "a second time changes nothing";
      }
      ExpectRecorded(row, Answered("/validate", Review(resource, "CREATE", mutated)));
      continue;
    }
    const std::vector<std::string> words = absl::StrSplit(row.what, absl::ByAnyChar(" :"));
    if (row.method == "DELETE") {
      ++deletes;
      const value old_object = boost::json::object{{"metadata", {{"name", words.at(1)}}}};
      ExpectRecorded(row, Answered("/validate", Review(resource, "DELETE", nullptr, old_object)));
      continue;
    }
    ++updates;
    const value before = &resource == &api::kJobs ? api::volcano::BaseJob() : api::volcano::QueueJson(words.at(1));
    const std::string review = Review(resource, "UPDATE", api::volcano::Changed(before, row), before);
    EXPECT_FALSE(Answered("/mutate", review).as_object().contains("patch")) << "defaults are for creates";
    ExpectRecorded(row, Answered("/validate", review));
  }
  EXPECT_EQ(creates, 124);
  EXPECT_EQ(updates, 29);
  EXPECT_EQ(deletes, 6);
}

// Volcano: pkg/webhooks/admission/podgroups/mutate
TEST(WebhookTest, APodGroupGetsTheQueueOfItsNamespace) {
  const value group = Json(
      R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{"name":"g"},"spec":{"minMember":1,"queue":"default"}})");
  EXPECT_EQ(Mutated(Review(api::kPodGroups, "CREATE", group, nullptr, "", "team-ns"), group).at("spec").at("queue"),
            "team");
  EXPECT_EQ(Mutated(Review(api::kPodGroups, "CREATE", group), group).at("spec").at("queue"), "default");
  const std::string update = Review(api::kPodGroups, "UPDATE", group, group, "", "team-ns");
  EXPECT_FALSE(Answered("/mutate", update).as_object().contains("patch"));
}

TEST(WebhookTest, WhatIsNoReviewIsBadAndSaysWhy) {
  const std::string head = R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview")";
  const std::string job = R"("resource":{"group":"batch.volcano.sh","version":"v1alpha1","resource":"jobs"})";
  const std::pair<std::string, std::string> cases[] = {
      {"", "not an AdmissionReview"},
      {"{", "line 1"},
      {"[]", "apiVersion and kind"},
      {R"({"apiVersion":"admission.k8s.io/v1beta1","kind":"AdmissionReview"})", "apiVersion and kind"},
      {head + "}", "there is no request"},
      {head + R"(,"request":7})", "there is no request"},
      {head + R"(,"request":{}})", "request.uid"},
      {head + R"(,"request":{"uid":7}})", "request.uid"},
      {head + R"(,"request":{"uid":"u","operation":"CREATE",)" + job + "}}", "request.object is missing"},
      {head + R"(,"request":{"uid":"u","operation":"UPDATE","object":{},)" + job + "}}",
       "request.oldObject is missing"},
      {std::string(200, '['), "not an AdmissionReview"},
  };
  for (const auto& [body, why] : cases) {
    for (const char* path : {"/mutate", "/validate"}) {
      const kube::Response response = Post(path, body);
      EXPECT_EQ(response.code, 400) << body;
      EXPECT_THAT(*response.body, HasSubstr(why)) << body;
    }
  }
}

TEST(WebhookTest, OnlyItsPagesAreServedAndOnlyWithFullCaches) {
  EXPECT_EQ(Post("/", "{}").code, 404);
  EXPECT_EQ(Post("/validate", "", true, "GET").code, 405);
  const kube::Response response = Post("/validate", "{}", false);
  EXPECT_EQ(response.code, 503);
  EXPECT_EQ(*response.body, "the caches are not full yet\n");
}

TEST(WebhookTest, ACronJobsScheduleIsJudgedWhenItIsMadeAndChanged) {
  const value good =
      Json(R"({"metadata":{"name":"nightly"},"spec":{"schedule":"30 2 * * *","jobTemplate":{"spec":{}}}})");
  value bad = good;
  bad.at("spec").as_object()["schedule"] = "30 26 * * *";
  EXPECT_EQ(Answered("/validate", Review(api::kCronJobs, "CREATE", good)).at("allowed"), true);
  for (const value& response : {Answered("/validate", Review(api::kCronJobs, "CREATE", bad)),
                                Answered("/validate", Review(api::kCronJobs, "UPDATE", bad, good))}) {
    EXPECT_EQ(response.at("allowed"), false);
    EXPECT_THAT(std::string(response.at("status").at("message").as_string()),
                HasSubstr("hour \"26\": must be between 0 and 23"));
  }
}

TEST(WebhookTest, SubresourcesAndOtherKindsAreAllowed) {
  const value bad = Json(R"({"metadata":{"name":"x"},"spec":{"weight":-1}})");
  EXPECT_EQ(Answered("/validate", Review(api::kQueues, "UPDATE", bad, bad, "status")).at("allowed"), true);
  EXPECT_EQ(Answered("/validate", Review(api::kPods, "CREATE", bad)).at("allowed"), true);
  EXPECT_EQ(Answered("/validate", Review(api::kQueues, "CREATE", bad)).at("allowed"), false);
}

TEST(WebhookTest, ThePatchIsTheDifference) {
  const value before = Json(R"({"a/b":{"x~y":1},"list":[1,{"k":1}],"other":[1],"gone":null})");
  const value after = Json(R"({"a/b":{"x~y":2,"new":{}},"list":[1,{"k":1,"l":2}],"other":[1,2]})");
  EXPECT_EQ(
      api::ToJson(PatchBetween(before, after)),
      R"([{"op":"replace","path":"/a~1b/x~0y","value":2},{"op":"add","path":"/a~1b/new","value":{}},)"
      R"({"op":"add","path":"/list/1/l","value":2},{"op":"replace","path":"/other","value":[1,2]},{"op":"remove","path":"/gone"}])");
  EXPECT_TRUE(PatchBetween(before, before).empty());
}

TEST(WebhookTest, WhatBecomesAnotherKindOfValueIsReplaced) {
  for (const auto& [before, after] : std::vector<std::pair<const char*, const char*>>{{R"({"k":1})", "7"},
                                                                                      {"7", R"({"k":1})"},
                                                                                      {R"([1,2])", "7"},
                                                                                      {"7", R"([1,2])"},
                                                                                      {R"({"k":1})", "[1]"},
                                                                                      {"[1]", R"({"k":1})"},
                                                                                      {"null", "[]"},
                                                                                      {"{}", "null"}}) {
    const value from = boost::json::object{{"a", Json(before)}}, to = boost::json::object{{"a", Json(after)}};
    EXPECT_EQ(api::ToJson(PatchBetween(from, to)),
              absl::StrCat(R"([{"op":"replace","path":"/a","value":)", after, "}]"))
        << before;
  }
}

// The costly part of a review is bounded by the number of its values, and one at the bound is judged.
TEST(WebhookTest, AReviewOfAsManyValuesAsThereMayBeIsJudged) {
  const std::string review =
      R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","note":"a,b{[\",{","list":[[0]]}})";
  const auto answer = [&](std::size_t max) {
    ReviewLimits limits;
    limits.max_values = max;
    return AnswerReview(Step::kValidate, review, api::volcano::RecordedQueues, {}, limits).status();
  };
  // The document, its three members, the request's three, what the list holds and what that holds.
  EXPECT_THAT(answer(9), testutil::IsOk());
  EXPECT_THAT(answer(8), testutil::StatusIs(absl::StatusCode::kInvalidArgument,
                                            "not an AdmissionReview of admission.k8s.io/v1: more than 8 values"));
}

// Taken, since another scheduler may know the field, and the user is told.
TEST(WarningsTest, WhatWouldWaitForEverIsWarnedOf) {
  const auto job = [](const std::string& pod_spec, std::size_t comment = 0) {
    return Json(absl::StrCat(
        R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":"j","namespace":"g-admission","annotations":{"a":")",
        std::string(comment, 'x'),
        R"("}},"spec":{"queue":"default","minAvailable":1,"maxRetry":3,"tasks":[{"name":"w","replicas":1,"minAvailable":1,
        "maxRetry":3,"template":{"spec":{"containers":[{"name":"c","image":"i"}])",
        pod_spec, "}}}]}}"));
  };
  const value claims = job(R"(,"resourceClaims":[{"name":"x","resourceClaimName":"y"}])");
  const value response = Answered("/validate", Review(api::kJobs, "CREATE", claims));
  EXPECT_EQ(response.at("allowed"), true) << api::ToJson(response);
  EXPECT_THAT(
      api::ToJson(response.at("warnings")),
      ::testing::StartsWith(
          R"(["spec.tasks[0].template.spec.resourceClaims[x]: gangway's scheduler does not know it: pods of task w would wait for ever; it allocates no devices)"));
  EXPECT_TRUE(Answered("/validate", Review(api::kJobs, "UPDATE", claims, claims)).as_object().contains("warnings"));
  EXPECT_FALSE(Answered("/mutate", Review(api::kJobs, "CREATE", claims)).as_object().contains("warnings"));
  EXPECT_FALSE(Answered("/validate", Review(api::kJobs, "CREATE", job(""))).as_object().contains("warnings"));
  value refused = claims;
  refused.at("spec").as_object()["minAvailable"] = 9;
  const value refusal = Answered("/validate", Review(api::kJobs, "CREATE", refused));
  EXPECT_EQ(refusal.at("allowed"), false);
  EXPECT_FALSE(refusal.as_object().contains("warnings"));
  // What is larger than 256 KiB is not read a second time.
  const auto warned = [&](std::size_t bytes) {
    const auto review = [&](std::size_t comment) {
      return Review(api::kJobs, "CREATE", job(R"(,"resourceClaims":[{"name":"x"}])", comment));
    };
    const std::string text = review(bytes - review(0).size());
    EXPECT_EQ(text.size(), bytes);
    return Answered("/validate", text).as_object().contains("warnings");
  };
  EXPECT_TRUE(warned(256u << 10));
  EXPECT_FALSE(warned((256u << 10) + 1));
}

}  // namespace
}  // namespace gangway::webhook
