// An object is deleted and made again under its name while a write for the first is on its way; the refusal of that
// write is none of the second's.
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/volcano/cron_job.h"
#include "gmock/gmock.h"
#include "kube/client/status.h"
#include "tests/plugin/controller/controllers_fixture.h"
#include "tests/plugin/lifecycle/job/world.h"

namespace gangway::controller {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class LateRepliesTest : public ControllersTest {
 protected:
  // The first creation of such an object is refused, five seconds late.
  void RefuseLate(const api::Resource& resource) {
    refused_ = false;
    fate_ = [this, path = api::PathOf(resource, "default")](const kube::Request& request) {
      sandbox::RequestFate fate;
      if (request.method != "POST" || request.path != path || std::exchange(refused_, true)) return fate;
      fate.answer.emplace();
      fate.answer->code = 403;
      fate.answer->content_type = "application/json";
      fate.answer->body = MakeBytes(kube::StatusBody(403, "Forbidden", "exceeded quota: team"));
      fate.reply_delay = absl::Seconds(5);
      return fate;
    };
  }
  std::string UidOf(const api::Resource& resource, const std::string& name) {
    return std::string(Get(resource, name).at("metadata").at("uid").as_string());
  }
  // "reason: message" of the events about the object of that UID.
  std::vector<std::string> EventsAbout(const std::string& uid) {
    std::vector<std::string> events;
    const json::value list = *api::ParseJson(*Ask("GET", api::PathOf(api::kEvents, "default")).body);
    for (const json::value& item : list.at("items").as_array()) {
      if (item.at("involvedObject").at("uid").as_string() != uid.c_str()) continue;
      events.push_back(
          absl::StrCat(std::string(item.at("reason").as_string()), ": ", std::string(item.at("message").as_string())));
    }
    return events;
  }
  // Deletes the object and makes it again; what was refused for the first must not be told about the second.
  void MakeAnew(const api::Resource& resource, const std::string& name, const std::string& text) {
    const std::string first = UidOf(resource, name);
    ASSERT_TRUE(refused_);
    Delete(resource, name);
    Create(resource, text);
    const std::string second = UidOf(resource, name);
    ASSERT_NE(first, second);
    Run(absl::Seconds(20));
    EXPECT_THAT(EventsAbout(second), Not(Contains(HasSubstr("exceeded quota"))));
  }

  bool refused_ = false;
};

TEST_F(LateRepliesTest, ARefusalIsToldAboutTheJobItWasFor) {
  const std::string job = testutil::JobText("ctr", 2, {{"w", 2}});
  Start();
  Create(api::kJobs, job);
  RefuseLate(api::kPods);
  LetIn("ctr");
  MakeAnew(api::kJobs, "ctr", job);
  LetIn("ctr");
  EXPECT_THAT(Names(api::kPods), ::testing::SizeIs(2));
}

TEST_F(LateRepliesTest, ARefusalOfTheSameJobIsTold) {
  Start();
  Create(api::kJobs, testutil::JobText("ctr", 2, {{"w", 2}}));
  RefuseLate(api::kPods);
  LetIn("ctr");
  Run(absl::Seconds(20));
  EXPECT_THAT(EventsAbout(UidOf(api::kJobs, "ctr")), Contains(HasSubstr("FailedCreate: Pod ctr-w-0: exceeded quota")));
}

TEST_F(LateRepliesTest, ARefusalIsToldAboutTheCronJobItWasFor) {
  const std::string cron =
      R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"CronJob","metadata":{"name":"often"},"spec":{"schedule":"* * * * *","jobTemplate":{"spec":{"tasks":[
      {"name":"w","replicas":1,"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}}]}}}})";
  Start();
  Create(api::kCronJobs, cron);
  RefuseLate(api::kJobs);
  loop_.RunUntil([this] { return refused_; }, loop_.Now() + absl::Minutes(2));
  MakeAnew(api::kCronJobs, "often", cron);
}

TEST_F(LateRepliesTest, ARefusalIsToldAboutTheJobFlowItWasFor) {
  const std::string flow =
      R"({"apiVersion":"flow.volcano.sh/v1alpha1","kind":"JobFlow","metadata":{"name":"f"},"spec":{"flows":[{"name":"t"}]}})";
  Start();
  Create(api::kJobTemplates,
         R"({"apiVersion":"flow.volcano.sh/v1alpha1","kind":"JobTemplate","metadata":{"name":"t"},"spec":{"tasks":[
      {"name":"w","replicas":1,"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}}]}})");
  RefuseLate(api::kJobs);
  Create(api::kJobFlows, flow);
  MakeAnew(api::kJobFlows, "f", flow);
}

}  // namespace
}  // namespace gangway::controller
