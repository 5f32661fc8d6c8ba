#include "translator/controller/paddle_index.h"

#include "api/field_table.h"
#include "api/paddle_resources.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gangway::paddle_controller {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

JobKey Key(std::string name) { return {"ns", std::move(name)}; }

api::core::Pod PodOf(const std::string& name, const std::string& job) {
  return *api::Decode<api::core::Pod>(
      absl::StrCat(R"({"metadata":{"name":")", name, R"(","namespace":"ns","uid":"u-)", name,
                   R"(","ownerReferences":[{"apiVersion":"batch.volcano.sh/v1alpha1",
      "kind":"Job","name":")",
                   job, R"(","uid":"j","controller":true}]},"status":{"phase":"Running"}})"));
}

paddle_lifecycle::PaddleJobView ViewOf(const PaddleIndex& index, const std::string& name) {
  paddle_lifecycle::PaddleJobView view;
  index.Fill(Key(name), view);
  return view;
}

TEST(PaddleIndexTest, PodsStandByTheirJob) {
  PaddleIndex index;
  const api::core::Pod pod = PodOf("wd-ps-0", "wd");
  EXPECT_EQ(index.PutPod(Key("wd-ps-0"), &pod), Key("wd"));
  ASSERT_NE(ViewOf(index, "wd").pods, nullptr);
  EXPECT_EQ(ViewOf(index, "wd").pods->size(), 1u);
  const api::core::Pod other = PodOf("wd-ps-0", "else");
  EXPECT_EQ(index.PutPod(Key("wd-ps-0"), &other), Key("else"));
  EXPECT_EQ(ViewOf(index, "wd").pods, nullptr);
  EXPECT_EQ(index.PutPod(Key("wd-ps-0"), nullptr), Key("else"));
  EXPECT_EQ(ViewOf(index, "else").pods, nullptr);
  EXPECT_EQ(index.PutPod(Key("wd-ps-0"), nullptr), JobKey{});
}

TEST(PaddleIndexTest, APodWhoseNameDoesNotBeginWithItsJobsStandsByItToo) {
  PaddleIndex index;
  const api::core::Pod odd = PodOf("odd", "wd"), plain = PodOf("a-b-ps-0", "a-b");
  EXPECT_EQ(index.PutPod(Key("odd"), &odd), Key("wd"));
  EXPECT_EQ(index.PutPod(Key("a-b-ps-0"), &plain), Key("a-b"));
  EXPECT_EQ(ViewOf(index, "wd").pods->size(), 1u);
  EXPECT_EQ(index.PutPod(Key("odd"), nullptr), Key("wd"));
  EXPECT_EQ(ViewOf(index, "wd").pods, nullptr);
  EXPECT_EQ(index.PutPod(Key("odd"), nullptr), JobKey{});
  EXPECT_EQ(index.PutPod(Key("a-b-ps-0"), nullptr), Key("a-b"));
}

// They are in the way of a PaddleJob of that name as long as they are there, also when their Job is gone.
TEST(PaddleIndexTest, OfAStrangersPodsItIsKnownThatTheyAreThere) {
  auto job = std::make_shared<api::volcano::Job>();
  job->metadata.name = "wd";
  job->metadata.uid = "j";
  const api::core::Pod pod = PodOf("wd-ps-0", "wd");
  for (const bool job_first : {true, false}) {
    PaddleIndex index;
    if (job_first) index.PutJob(Key("wd"), job);
    index.PutPod(Key("wd-ps-0"), &pod);
    if (!job_first) index.PutJob(Key("wd"), job);
    ASSERT_NE(ViewOf(index, "wd").pods, nullptr);
    ASSERT_EQ(ViewOf(index, "wd").pods->size(), 1u);
    EXPECT_EQ(ViewOf(index, "wd").pods->begin()->first, "wd-ps-0");
    EXPECT_EQ(ViewOf(index, "wd").pods->begin()->second.uid, "") << "nobody asks";
    index.PutJob(Key("wd"), nullptr);
    EXPECT_EQ(ViewOf(index, "wd").pods->size(), 1u);
    index.PutPod(Key("wd-ps-0"), &pod);
    EXPECT_EQ(ViewOf(index, "wd").pods->begin()->second.uid, "u-wd-ps-0");
    EXPECT_EQ(index.PutPod(Key("wd-ps-0"), nullptr), Key("wd"));
    EXPECT_EQ(ViewOf(index, "wd").pods, nullptr);
  }
}

TEST(PaddleIndexTest, AnObjectConcernsAllThatMightWantItsName) {
  PaddleIndex index;
  api::ObjectMeta metadata;
  metadata.ns = "ns";
  metadata.name = "wd-paddle-env";
  EXPECT_THAT(index.PutObject(api::kConfigMaps, Key("wd-paddle-env"), &metadata),
              ElementsAre(Key("wd"), Key("wd-paddle"), Key("wd-paddle-env")));
  metadata.name = "wd";
  EXPECT_THAT(index.PutObject(api::kServices, Key("wd"), &metadata), ElementsAre(Key("wd")));
  metadata.name = "wde";
  index.PutObject(api::kServices, Key("wde"), &metadata);
  const auto view = ViewOf(index, "wd");
  ASSERT_EQ(view.objects.size(), 2u);
  EXPECT_EQ(view.objects[0].name, "wd");
  EXPECT_EQ(view.objects[0].resource, &api::kServices);
  EXPECT_EQ(view.objects[1].name, "wd-paddle-env");
  EXPECT_EQ(ViewOf(index, "wd-paddle").objects.size(), 1u);
  index.PutObject(api::kServices, Key("wd"), nullptr);
  EXPECT_EQ(ViewOf(index, "wd").objects.size(), 1u);
}

TEST(PaddleIndexTest, CommandsComeInTheOrderTheyWereGiven) {
  PaddleIndex index;
  const auto command = [](const char* name, const char* when, const char* kind) {
    return std::make_shared<const api::volcano::Command>(*api::Decode<api::volcano::Command>(
        absl::StrCat(R"({"metadata":{"name":")", name, R"(","creationTimestamp":")", when,
                     R"("},"target":{"apiVersion":"batch.volcano.sh/v1alpha1","kind":")", kind, R"(","name":"wd"}})")));
  };
  const auto second = command("a", "2026-01-01T00:00:02Z", "Job"), first = command("b", "2026-01-01T00:00:01Z", "Job");
  EXPECT_EQ(index.PutCommand(Key("a"), nullptr, second), Key("wd"));
  EXPECT_EQ(index.PutCommand(Key("b"), nullptr, first), Key("wd"));
  EXPECT_EQ(index.PutCommand(Key("q"), nullptr, command("q", "2026-01-01T00:00:00Z", "Queue")), JobKey{});
  EXPECT_THAT(ViewOf(index, "wd").commands, ElementsAre(first.get(), second.get()));
  EXPECT_EQ(index.PutCommand(Key("b"), first, nullptr), Key("wd"));
  EXPECT_THAT(ViewOf(index, "wd").commands, ElementsAre(second.get()));
}

TEST(PaddleIndexTest, OfAStrangersJobOnlyTheMetadataIsKept) {
  PaddleIndex index;
  auto job = std::make_shared<api::volcano::Job>();
  job->metadata.name = "wd";
  job->metadata.uid = "u";
  job->spec.queue = "q";
  index.PutJob(Key("wd"), job);
  ASSERT_NE(index.JobOf(Key("wd")), nullptr);
  EXPECT_EQ(index.JobOf(Key("wd"))->metadata.uid, "u");
  EXPECT_EQ(index.JobOf(Key("wd"))->spec.queue, "");
  api::OwnerReference owner{api::paddle::kPaddleJobs.ApiVersion(), "PaddleJob", "wd", "p", true, std::nullopt};
  job->metadata.owner_references.push_back(owner);
  index.PutJob(Key("wd"), job);
  EXPECT_EQ(index.JobOf(Key("wd"))->spec.queue, "q");
  index.PutJob(Key("wd"), nullptr);
  EXPECT_EQ(index.JobOf(Key("wd")), nullptr);
}

TEST(PaddleIndexTest, TheNewestEventOfAGroupIsWhatItsQueueSays) {
  PaddleIndex index;
  const auto event = [](const char* version, const char* message) {
    return *api::Decode<api::core::Event>(
        absl::StrCat(R"({"metadata":{"name":"e","resourceVersion":")", version, R"("},"message":")", message,
                     R"(","involvedObject":{"kind":"PodGroup","name":"wd-j","uid":"g"}})"));
  };
  const auto fresh = event("9", "no room"), old = event("7", "closed");
  EXPECT_EQ(index.PutEvent(Key("e9"), &fresh), Key("wd-j"));
  EXPECT_EQ(index.PutEvent(Key("e7"), &old), api::NamespacedName{});
  EXPECT_EQ(index.EventOf("g").message, "no room");
  EXPECT_EQ(index.PutEvent(Key("e7"), nullptr), Key("wd-j"));
  EXPECT_EQ(index.EventOf("g").message, "no room");
  EXPECT_EQ(index.PutEvent(Key("e9"), nullptr), Key("wd-j"));
  EXPECT_EQ(index.EventOf("g").message, "");
}

TEST(PaddleIndexTest, AnEventThatDoesNotSayOfWhomIsOfNobody) {
  PaddleIndex index;
  const auto event = *api::Decode<api::core::Event>(
      R"({"metadata":{"name":"e","resourceVersion":"9"},"message":"no room","involvedObject":{"kind":"PodGroup","name":"wd-j"}})");
  EXPECT_EQ(index.PutEvent(Key("e"), &event), api::NamespacedName{});
  EXPECT_EQ(index.EventOf("").message, "");
}

TEST(PaddleIndexTest, OnlyTheStateOfAQueueIsNews) {
  PaddleIndex index;
  api::volcano::Queue queue;
  queue.status.state = "Open";
  EXPECT_TRUE(index.PutQueue("q", &queue));
  queue.status.running = 3;
  EXPECT_FALSE(index.PutQueue("q", &queue));
  queue.status.state = "Closed";
  EXPECT_TRUE(index.PutQueue("q", &queue));
  EXPECT_EQ(ViewOf(index, "wd").queues->at("q"), "Closed");
  EXPECT_TRUE(index.PutQueue("q", nullptr));
  EXPECT_FALSE(index.PutQueue("q", nullptr));
  EXPECT_THAT(*ViewOf(index, "wd").queues, IsEmpty());
}

}  // namespace
}  // namespace gangway::paddle_controller
