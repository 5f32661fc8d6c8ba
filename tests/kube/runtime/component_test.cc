#include "kube/runtime/component.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/simulated_loop.h"
#include "gmock/gmock.h"
#include "tests/testing/fake_client.h"

namespace gangway::kube {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testutil::FakeClient;
using testutil::Refusal;
using testutil::Reply;

struct Plain {
  api::ObjectMeta metadata;
  static constexpr bool kView = true;
  static constexpr std::string_view kName = "Plain";
  static constexpr auto Fields() { return api::MakeFields(api::MakeField<&Plain::metadata>("metadata", "")); }
};

// Deletes every service there is, and looks nodes up.
class Cleaner final : public Component {
 public:
  Cleaner(Informers& informers, ComponentOptions options, std::vector<std::string>& told)
      : Component(informers, std::move(options)),
        told_(told),
        services_(Watch<Plain>(api::kServices, {},
                               [this](const auto& key, const auto&, const auto&) { driver_.Enqueue(key); })),
        nodes_(Watch<Plain>(api::kNodes, {}, nullptr, Undecodable::kIgnored)),
        driver_(Drive("cleaner", [this](const auto& key, absl::Time) { return Decide(key); })) {}

 private:
  Plan Decide(const api::NamespacedName& key) {
    told_.push_back(absl::StrCat("decide ", key.name));
    Plan plan;
    const auto service = services_.Get(key);
    if (service == nullptr) return plan;
    Write write;
    write.verb = Verb::kDelete;
    write.resource = &api::kServices;
    write.ns = key.ns;
    write.name = key.name;
    write.uid = service->metadata.uid;
    plan.stages.push_back({write});
    return plan;
  }
  void Wake() override {
    told_.push_back(absl::StrCat("wake, ", nodes_.size(), " nodes"));
    services_.ForEach([this](const auto& key, const auto&) { driver_.Enqueue(key); });
  }
  void OnReply(const Write& write, const Response& response) override {
    Component::OnReply(write, response);
    told_.push_back(absl::StrCat("reply ", write.name,
                                 services_.Get({write.ns, write.name}) == nullptr ? ", it is gone" : ", it is there"));
  }

  std::vector<std::string>& told_;
  Informer<Plain>& services_;
  Informer<Plain>& nodes_;
  Driver& driver_;
};

class ComponentTest : public ::testing::Test {
 protected:
  ComponentTest() {
    client_.SetHandler([this](const Request& request) -> std::optional<absl::StatusOr<Response>> {
      if (request.method == "POST") return Reply(201, request.body);
      if (request.method == "DELETE" && !deletes_) return std::nullopt;
      if (request.method == "DELETE") return Reply(200, R"({"kind":"Status","status":"Success"})");
      if (request.path == "/api/v1/nodes" && !nodes_) return std::nullopt;
      if (request.path == "/api/v1/nodes")
        return Reply(
            200,
            absl::StrCat(
                R"({"metadata":{"resourceVersion":"9"},"items":[{"metadata":{"name":"n","uid":"n","resourceVersion":"2"}})",
                more_nodes_, "]}"));
      if (forbidden_) return Refusal(403, "Forbidden");
      return Reply(
          200,
          absl::StrCat(
              R"({"metadata":{"resourceVersion":"9"},"items":[{"metadata":{"name":"s","namespace":"d","uid":"u","resourceVersion":"3"}})",
              more_, "]}"));
    });
  }
  void Make(bool standby = false) {
    ComponentOptions options;
    options.event_source = "cleaner";
    options.standby = standby;
    component_.emplace(informers_, std::move(options), told_);
    informers_.Start();
    Run();
  }
  void Run(absl::Duration time = absl::Seconds(1)) { loop_.RunFor(time); }
  std::vector<std::string> Told() { return std::exchange(told_, {}); }
  std::string Dump() {
    std::string out;
    api::JsonWriter json(out);
    json.BeginObject();
    component_->DumpDrivers(json);
    json.EndObject();
    return out;
  }
  int Events() {
    int events = 0;
    for (const Request& request : client_.requests()) events += absl::EndsWith(request.path, "/events") ? 1 : 0;
    return events;
  }

  SimulatedLoop loop_{1};
  FakeClient client_{loop_};
  bool deletes_ = true, nodes_ = true, forbidden_ = false;
  std::string more_, more_nodes_;
  std::vector<std::string> told_;
  Informers informers_{loop_, client_};
  std::optional<Cleaner> component_;
};

TEST_F(ComponentTest, DecidesWhenAllIsListed) {
  nodes_ = false;
  Make();
  EXPECT_FALSE(component_->synced());
  EXPECT_THAT(Told(), IsEmpty());
  client_.Answer(client_.requests()[0].path == "/api/v1/nodes" ? 0 : 1,
                 Reply(200, R"({"metadata":{"resourceVersion":"9"},"items":[]})"));
  Run();
  EXPECT_TRUE(component_->synced());
  EXPECT_THAT(Told(), ElementsAre("wake, 0 nodes", "decide s", "reply s, it is gone", "decide s"))
      << "a reply is seen by the informer first";
}

TEST_F(ComponentTest, AStandbyDecidesNothingUntilItLeads) {
  Make(true);
  EXPECT_TRUE(component_->synced());
  EXPECT_THAT(Told(), IsEmpty());
  component_->Lead();
  Run();
  EXPECT_THAT(Told(), ElementsAre("wake, 1 nodes", "decide s", "reply s, it is gone", "decide s"));
}

TEST_F(ComponentTest, WhatIsUnderWayIsCarriedOutBeforeItHasStopped) {
  deletes_ = false;
  Make();
  EXPECT_EQ(Dump(), R"({"cleaner":{"queuedKeys":0,"plansUnderWay":1}})");
  component_->Stop();
  EXPECT_FALSE(component_->stopped());
  client_.Answer(client_.requests().size() - 1, Reply(200, R"({"kind":"Status","status":"Success"})"));
  Run();
  EXPECT_TRUE(component_->stopped());
  EXPECT_THAT(Told(), ElementsAre("wake, 1 nodes", "decide s", "reply s, it is gone"));
  component_->Lead();
  Run();
  EXPECT_THAT(Told(), IsEmpty()) << "for good";
}

TEST_F(ComponentTest, WhatCannotBeReadIsToldToItsUserOnceItLeads) {
  more_ = R"(,{"metadata":{"name":"odd","namespace":"d","uid":"o","resourceVersion":"4","labels":5}})";
  Make(true);
  EXPECT_EQ(Events(), 0);
  component_->Lead();
  Run();
  EXPECT_EQ(Events(), 1);
  EXPECT_EQ(component_->events_waiting(), 0u);
}

TEST_F(ComponentTest, WhatOthersKeepIsNotToldToItsUser) {
  more_nodes_ = R"(,{"metadata":{"name":"odd","uid":"o","resourceVersion":"4","labels":5}})";
  Make();
  EXPECT_THAT(Told(), Contains("decide s"));
  EXPECT_EQ(Events(), 0);
}

TEST_F(ComponentTest, SaysWhatKeepsItFromBeingUpToDate) {
  forbidden_ = true;
  Make();
  EXPECT_THAT(component_->problem(), HasSubstr("may not list services"));
}

}  // namespace
}  // namespace gangway::kube
