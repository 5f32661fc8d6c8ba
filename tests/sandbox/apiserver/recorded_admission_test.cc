// Every recorded request about Jobs, PodGroups and Queues (tests/golden/volcano/admission.json), put to the sandbox's
// API server as it was put to the real one: as a dry run, beside the queues and the Job that were there. The code, the
// reason, the fields named and the defaults are those of Volcano's schema and webhooks.
#include "tests/api/volcano/recorded_admission.h"
#include "api/resource.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/sandbox/apiserver/server_fixture.h"

namespace gangway::sandbox {
namespace {

using api::volcano::Row;
using boost::json::value;

constexpr char kDryRun[] = "dryRun=All";

class RecordedAdmissionTest : public testutil::ServerTest {
 protected:
  RecordedAdmissionTest() {
    EXPECT_EQ(
        Post("/api/v1/namespaces", R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"g-admission"}})").code,
        201);
    // Queues root and default are there from the start.
    for (const char* const name : {"root", "default"}) SetState(name, "Open");
    MakeQueue(api::ToJson(api::volcano::QueueJson("q-open")), "q-open", "Open");
    MakeQueue(
        R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":"q-parent"},"spec":{"weight":1,"parent":"root"}})",
        "q-parent", "Open");
    MakeQueue(api::ToJson(api::volcano::QueueJson("q-child")), "q-child", "Open");
    MakeQueue(
        R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":"q-closed"},"spec":{"weight":1,"parent":"root"}})",
        "q-closed", "Closed");
    EXPECT_EQ(Patch(PathOf(api::kQueues, "default") + "/status", R"({"status":{"allocated":{"pods":"2"}}})").code, 200);
    EXPECT_EQ(Post(PathOf(api::kJobs), api::ToJson(api::volcano::BaseJob())).code, 201);
  }

  void MakeQueue(const std::string& body, const std::string& name, const std::string& state) {
    const testutil::Answer made = Post(testutil::kQueues, body);
    EXPECT_EQ(made.code, 201) << made.body;
    SetState(name, state);
  }
  void SetState(const std::string& name, const std::string& state) {
    EXPECT_EQ(
        Patch(PathOf(api::kQueues, name) + "/status", absl::StrCat(R"({"status":{"state":")", state, "\"}}")).code,
        200);
  }
  static std::string PathOf(const api::Resource& resource, const std::string& name = {}) {
    return api::PathOf(resource, resource.namespaced ? "g-admission" : "", name);
  }
  static const api::Resource& ResourceOf(const Row& row) {
    return row.group[0] == 'J' ? api::kJobs : row.group[0] == 'P' ? api::kPodGroups : api::kQueues;
  }

  testutil::Answer Ask(const Row& row) {
    const api::Resource& resource = ResourceOf(row);
    if (row.method == "POST") return Post(PathOf(resource), api::ToJson(row.input), kDryRun);
    const std::vector<std::string> words = absl::StrSplit(row.what, absl::ByAnyChar(" :"));
    const std::string path = PathOf(resource, &resource == &api::kJobs ? "base" : words.at(1));
    if (row.method == "DELETE") return Delete(path, {}, kDryRun);
    return Put(path, api::ToJson(api::volcano::Changed(api::volcano::Json(Get(path).body), row)), kDryRun);
  }

  static std::set<std::string> CausesOf(const value& answer) {
    std::set<std::string> causes;
    for (const value& cause : answer.at("details").at("causes").as_array()) {
      causes.insert(absl::StrCat(api::volcano::TextOf(cause.as_object(), "reason"), " ",
                                 api::volcano::TextOf(cause.as_object(), "field")));
    }
    return causes;
  }

  // "+ /spec/queue = "default"": templates stay as they were written, and a status that is sent along is dropped.
  static void ExpectDefaults(const Row& row, const value& answer) {
    for (const std::string& mutation : row.mutations) {
      const std::size_t sign = mutation.find(mutation[0] == '+' ? " = " : " -> ");
      if (mutation[0] == '-' || sign == std::string::npos || absl::StrContains(mutation, "/template/") ||
          absl::StrContains(mutation, " /status"))
        continue;
      const std::string path = mutation.substr(2, (mutation[0] == '+' ? sign : mutation.find(": ")) - 2);
      const std::string wanted = mutation.substr(sign + (mutation[0] == '+' ? 3 : 4));
      boost::system::error_code error;
      const value* const found = answer.find_pointer(path, error);
      ASSERT_NE(found, nullptr) << mutation;
      EXPECT_EQ(*found, api::volcano::Json(wanted)) << mutation;
    }
  }
};

TEST_F(RecordedAdmissionTest, EveryRowIsAnsweredAsItWasRecorded) {
  ASSERT_EQ(api::volcano::Rows().size(), 159u);
  for (const Row& row : api::volcano::Rows()) {
    SCOPED_TRACE(absl::StrCat("row ", row.number, ": ", row.method, " ", row.what));
    const testutil::Answer told = Ask(row);
    EXPECT_EQ(told.code, row.status) << told.body;
    const value answer = api::volcano::Json(told.body);
    if (row.status < 300) {
      if (told.code < 300 && row.method == "POST") ExpectDefaults(row, answer);
      continue;
    }
    // Volcano's webhooks give no reason; a Status of the sandbox always has one.
    EXPECT_EQ(told.Text("reason"), row.reason.empty() ? "BadRequest" : row.reason) << told.body;
    // Rows 6 and 7: Volcano names what it derived from a negative number, too.
    if (row.status == 422 && row.number != 6 && row.number != 7) {
      EXPECT_EQ(CausesOf(answer), row.causes);
    }
  }
}

}  // namespace
}  // namespace gangway::sandbox
