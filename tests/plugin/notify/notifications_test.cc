// Which steps of a job's life are told, to a webhook that is down, slow to take them or does not want them.
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <boost/json.hpp>

#include "absl/strings/str_cat.h"
#include "base/simulated_loop.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kube/runtime/components.h"
#include "plugin/notify/deliverer.h"
#include "plugin/notify/notifier.h"
#include "sandbox/apiserver/api_server.h"
#include "sandbox/apiserver/in_process_client.h"
#include "tests/testing/fake_client.h"

namespace gangway::notify {
namespace {

using api::volcano::Job;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Job JobIn(const std::string& phase, int retries = 0) {
  Job job;
  job.metadata.name = "ctr";
  job.metadata.ns = "ads";
  job.metadata.uid = "u-1";
  job.metadata.creation_timestamp.at = absl::FromUnixSeconds(1000);
  job.spec.queue = "ads";
  job.spec.max_retry = 3;
  job.status.state.phase = phase;
  job.status.state.last_transition_time.at = absl::FromUnixSeconds(2000);
  job.status.retry_count = retries;
  return job;
}

std::vector<std::string> IdsOf(const std::vector<Notice>& notices) {
  std::vector<std::string> ids;
  for (const Notice& notice : notices) ids.push_back(notice.id);
  return ids;
}

TEST(NoticeTest, AnEndIsToldOnceAndARestartEachTime) {
  const Job running = JobIn("Running"), completed = JobIn("Completed"), failed = JobIn("Failed", 3);
  const Job restarting = JobIn("Restarting", 1), again = JobIn("Restarting", 2), terminated = JobIn("Terminated");
  EXPECT_THAT(IdsOf(NoticesOf(&running, &completed)), ElementsAre("u-1/completed"));
  EXPECT_THAT(IdsOf(NoticesOf(&completed, &completed)), IsEmpty());
  EXPECT_THAT(IdsOf(NoticesOf(&running, &terminated)), ElementsAre("u-1/failed"));
  EXPECT_THAT(IdsOf(NoticesOf(&running, &restarting)), ElementsAre("u-1/restarted/1"));
  EXPECT_THAT(IdsOf(NoticesOf(&restarting, &again)), ElementsAre("u-1/restarted/2"));
  EXPECT_THAT(IdsOf(NoticesOf(&again, &failed)), ElementsAre("u-1/failed")) << "the last retry is no restart";
  EXPECT_THAT(IdsOf(NoticesOf(nullptr, &again)), IsEmpty()) << "nobody knows when";
  EXPECT_THAT(IdsOf(NoticesOf(nullptr, &completed)), ElementsAre("u-1/completed"));
  EXPECT_THAT(IdsOf(NoticesOf(&completed, nullptr)), IsEmpty());
  Job other = JobIn("Completed");
  other.metadata.uid = "u-2";
  EXPECT_THAT(IdsOf(NoticesOf(&completed, &other)), ElementsAre("u-2/completed")) << "another of the same name";
  const Job aborted = JobIn("Aborted");
  EXPECT_THAT(IdsOf(NoticesOf(&running, &aborted)), ElementsAre("u-1/aborted/2000"));
}

TEST(NoticeTest, WhatIsToldIsOfThePaddleJobWhereOneMadeTheJob) {
  Job job = JobIn("Failed");
  job.status.state.message = "worker-1 \"failed\"";
  api::OwnerReference owner;
  owner.kind = "PaddleJob";
  owner.name = "train";
  owner.uid = "p-1";
  owner.controller = true;
  job.metadata.owner_references.push_back(owner);
  const std::vector<Notice> notices = NoticesOf(nullptr, &job);
  ASSERT_THAT(notices, SizeIs(1));
  const boost::json::value said = boost::json::parse(NoticeJson(notices[0], "beijing-1"));
  EXPECT_EQ(said, boost::json::parse(R"j({"id":"u-1/failed","event":"failed","time":"1970-01-01T00:33:20Z",
    "cluster":"beijing-1","kind":"PaddleJob","namespace":"ads","name":"train","uid":"p-1","queue":"ads",
    "phase":"Failed","reason":"worker-1 \"failed\"","restarts":0,
    "text":"PaddleJob ads/train has failed: worker-1 \"failed\" (beijing-1)"})j"));
}

TEST(NoticeTest, WhoWaitsIsPendingAndStays) {
  EXPECT_EQ(WaitsSince(JobIn("Pending")), absl::FromUnixSeconds(2000));
  EXPECT_EQ(WaitsSince(JobIn("Running")), std::nullopt);
  Job fresh = JobIn("");
  fresh.status.state.last_transition_time = {};
  EXPECT_EQ(WaitsSince(fresh), absl::FromUnixSeconds(1000)) << "nobody has looked at it yet";
  fresh.metadata.deletion_timestamp.at = absl::FromUnixSeconds(3000);
  EXPECT_EQ(WaitsSince(fresh), std::nullopt);
}

NotifierOptions Telling(std::set<Event> events) {
  NotifierOptions out;
  out.events = std::move(events);
  return out;
}

class NotifierTest : public ::testing::Test {
 protected:
  NotifierTest() : loop_(1), server_(loop_, {}), client_(loop_, server_, "notify") {}
  void Start(NotifierOptions about = Telling({Event::kCompleted, Event::kFailed, Event::kRestarted, Event::kWaiting}),
             bool standby = false) {
    components_ = std::make_unique<kube::Components>(loop_, client_);
    kube::ComponentOptions options;
    options.standby = standby;
    components_->Add(std::make_unique<Notifier>(components_->informers(), options, std::move(about),
                                                [this](const std::string& json) { told_.push_back(json); }));
    components_->Start();
    loop_.RunFor(absl::Seconds(1));
  }
  static kube::Request Request(const std::string& method, const std::string& path) {
    kube::Request request;
    request.method = method;
    request.path = path;
    return request;
  }
  void Send(const std::string& method, const std::string& path, const std::string& body) {
    kube::Request request = Request(method, path);
    if (method == "PATCH") request.content_type = "application/merge-patch+json";
    request.body = body;
    const kube::Response reply = server_.Handle(request, {"test"});
    ASSERT_TRUE(reply.ok()) << *reply.body;
    loop_.RunFor(absl::Seconds(1));
  }
  static constexpr char kJobs[] = "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs";
  void Create(const std::string& name) {
    Send("POST", kJobs,
         absl::StrCat(R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":")", name,
                      R"("},"spec":{"minAvailable":1,"tasks":[{"name":"w","replicas":1,"template":{"spec":
                        {"containers":[{"name":"c","image":"i"}]}}}]}})"));
  }
  void SetPhase(const std::string& name, const std::string& phase, int retries = 0) {
    Send("PATCH", absl::StrCat(kJobs, "/", name, "/status"),
         absl::StrCat(R"({"status":{"retryCount":)", retries, R"(,"state":{"phase":")", phase,
                      R"(","lastTransitionTime":")",
                      absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", loop_.Now(), absl::UTCTimeZone()), R"("}}})"));
  }
  std::vector<std::string> Events() const {
    std::vector<std::string> out;
    for (const std::string& json : told_) {
      const boost::json::value said = boost::json::parse(json);
      out.push_back(
          absl::StrCat(std::string(said.at("event").as_string()), " ", std::string(said.at("name").as_string())));
    }
    return out;
  }

  SimulatedLoop loop_;
  sandbox::ApiServer server_;
  sandbox::InProcessClient client_;
  std::vector<std::string> told_;
  std::unique_ptr<kube::Components> components_;
};

TEST_F(NotifierTest, TheLifeOfAJobIsToldAsItHappens) {
  Start();
  Create("ctr");
  SetPhase("ctr", "Running");
  SetPhase("ctr", "Restarting", 1);
  SetPhase("ctr", "Running", 1);
  SetPhase("ctr", "Completed", 1);
  EXPECT_THAT(Events(), ElementsAre("restarted ctr", "completed ctr"));
}

TEST_F(NotifierTest, WhoWaitsTooLongIsToldOfOnceWithTheReason) {
  Start();
  Create("ctr");
  SetPhase("ctr", "Pending");
  const boost::json::value job =
      boost::json::parse(*server_.Handle(Request("GET", absl::StrCat(kJobs, "/ctr")), {"test"}).body);
  Send("POST", "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups",
       absl::StrCat(R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{"name":"g",
         "ownerReferences":[{"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","name":"ctr","controller":true,"uid":")",
                    std::string(job.at_pointer("/metadata/uid").as_string()), R"("}]},"spec":{"minMember":1},
         "status":{"conditions":[{"type":"Unschedulable","status":"True","message":"needs cpu 12"}]}})"));
  loop_.RunFor(absl::Minutes(29));
  EXPECT_THAT(told_, IsEmpty());
  loop_.RunFor(absl::Seconds(65));
  ASSERT_THAT(Events(), ElementsAre("waiting ctr"));
  EXPECT_THAT(told_[0], HasSubstr("Job default/ctr waits in queue default: needs cpu 12"));
  Send("PATCH", absl::StrCat(kJobs, "/ctr"), R"({"metadata":{"labels":{"a":"b"}}})");
  loop_.RunFor(absl::Hours(1));
  EXPECT_THAT(told_, SizeIs(1)) << "a change meanwhile begins nothing anew";
}

TEST_F(NotifierTest, WhoStartsInTimeIsNotToldOf) {
  Start();
  Create("ctr");
  SetPhase("ctr", "Pending");
  loop_.RunFor(absl::Minutes(20));
  SetPhase("ctr", "Running");
  loop_.RunFor(absl::Hours(1));
  EXPECT_THAT(told_, IsEmpty());
}

TEST_F(NotifierTest, ANewLeaderTellsWhatItsPredecessorMayNotHaveAndNothingOld) {
  Create("old");
  SetPhase("old", "Failed");
  Create("waits");
  SetPhase("waits", "Pending");
  loop_.RunFor(absl::Hours(1));
  Create("new");
  SetPhase("new", "Failed");
  loop_.RunFor(absl::Seconds(30));
  Start(Telling({Event::kFailed, Event::kWaiting}), true);
  EXPECT_THAT(told_, IsEmpty()) << "a standby tells nothing";
  components_->Lead();
  loop_.RunFor(absl::Seconds(1));
  EXPECT_THAT(Events(), ElementsAre("failed new"));
}

TEST_F(NotifierTest, OnlyWhatWasAskedForIsTold) {
  NotifierOptions about;
  about.events = {Event::kFailed};
  about.queues = {"other"};
  Start(about);
  Create("ctr");
  SetPhase("ctr", "Failed");
  EXPECT_THAT(told_, IsEmpty());
  about.queues = {"default"};
  Start(about);
  Create("two");
  SetPhase("two", "Completed");
  Create("three");
  SetPhase("three", "Failed");
  EXPECT_THAT(Events(), ElementsAre("failed ctr", "failed three"));
}

class DelivererTest : public ::testing::Test {
 protected:
  std::vector<std::string> Bodies() const {
    std::vector<std::string> out;
    for (const kube::Request& request : client_.requests()) out.push_back(request.body);
    return out;
  }
  std::string Counted(const std::string& result) const {
    const std::string page = metrics_.Expose(),
                      name = absl::StrCat("gangway_notifications_total{result=\"", result, "\"} ");
    const std::size_t at = page.find(name);
    return at == std::string::npos ? "" : page.substr(at + name.size(), page.find('\n', at) - at - name.size());
  }
  SimulatedLoop loop_{1};
  testutil::FakeClient client_{loop_};
  Metrics metrics_;
};

TEST_F(DelivererTest, OneAfterTheOtherToThePathOfTheUrl) {
  Deliverer deliverer(loop_, client_, "/hook", "key=1", &metrics_);
  deliverer.Add("1");
  deliverer.Add("2");
  loop_.RunFor(absl::Seconds(1));
  EXPECT_THAT(Bodies(), ElementsAre("1")) << "the second waits for the first";
  EXPECT_EQ(client_.last().query, "key=1");
  client_.Answer(0, testutil::Reply(204));
  loop_.RunFor(absl::Seconds(1));
  EXPECT_THAT(client_.lines(), ElementsAre("POST /hook", "POST /hook"));
  client_.Answer(1, testutil::Reply(200));
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(deliverer.waiting(), 0u);
  EXPECT_EQ(Counted("sent"), "2");
}

TEST_F(DelivererTest, AWebhookThatIsDownIsAskedLessAndLessOftenAndGetsAllInTheEnd) {
  int down = 5;
  client_.SetHandler([&](const kube::Request&) -> std::optional<absl::StatusOr<kube::Response>> {
    if (--down >= 3) return absl::UnavailableError("no route, https://hooks/secret");
    if (down >= 0) return testutil::Reply(503);
    return testutil::Reply(200);
  });
  Deliverer deliverer(loop_, client_, "/", "", &metrics_);
  deliverer.Add("1");
  deliverer.Add("2");
  loop_.RunFor(absl::Seconds(4));
  EXPECT_LE(client_.requests().size(), 5u) << "with back-off";
  loop_.RunFor(absl::Minutes(5));
  EXPECT_THAT(Bodies(), ElementsAre("1", "1", "1", "1", "1", "1", "2"));
  EXPECT_EQ(Counted("failed"), "5");
}

TEST_F(DelivererTest, ItWaitsAsLongAsTheWebhookAsks) {
  client_.SetHandler([&](const kube::Request&) -> std::optional<absl::StatusOr<kube::Response>> {
    kube::Response busy = testutil::Reply(429);
    busy.retry_after = absl::Seconds(90);
    return client_.requests().size() == 1 ? busy : testutil::Reply(200);
  });
  Deliverer deliverer(loop_, client_, "/", "", nullptr);
  deliverer.Add("1");
  loop_.RunFor(absl::Seconds(80));
  EXPECT_THAT(Bodies(), SizeIs(1));
  loop_.RunFor(absl::Seconds(20));
  EXPECT_THAT(Bodies(), SizeIs(2));
}

TEST_F(DelivererTest, WhatIsRefusedForGoodIsNotSentAgain) {
  client_.SetHandler([&](const kube::Request& request) -> std::optional<absl::StatusOr<kube::Response>> {
    return testutil::Reply(request.body == "bad" ? 400 : 200);
  });
  Deliverer deliverer(loop_, client_, "/", "", &metrics_);
  deliverer.Add("bad");
  deliverer.Add("good");
  loop_.RunFor(absl::Seconds(1));
  EXPECT_THAT(Bodies(), ElementsAre("bad", "good"));
  EXPECT_EQ(Counted("refused"), "1");
}

TEST_F(DelivererTest, TheQueueIsBoundedAndTheOldestGo) {
  DeliveryOptions options;
  options.most_waiting = 3;
  Deliverer deliverer(loop_, client_, "/", "", &metrics_, options);
  for (const char* json : {"1", "2", "3", "4", "5"}) deliverer.Add(json);
  EXPECT_EQ(deliverer.waiting(), 3u);
  EXPECT_EQ(Counted("dropped"), "2");
  client_.SetHandler([](const kube::Request&) { return testutil::Reply(200); });
  client_.Answer(0, testutil::Reply(503));
  loop_.RunFor(absl::Seconds(5));
  EXPECT_THAT(Bodies(), ElementsAre("1", "1", "4", "5")) << "the one under way is not taken back";
}

TEST_F(DelivererTest, WhatIsTooOldIsNoNews) {
  client_.SetHandler([&](const kube::Request&) { return testutil::Reply(503); });
  Deliverer deliverer(loop_, client_, "/", "", &metrics_);
  deliverer.Add("1");
  loop_.RunFor(absl::Hours(2));
  EXPECT_EQ(deliverer.waiting(), 0u);
  EXPECT_EQ(Counted("dropped"), "1");
}

}  // namespace
}  // namespace gangway::notify
