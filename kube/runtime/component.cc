#include "kube/runtime/component.h"

#include <algorithm>

namespace gangway::kube {

Component::Component(Informers& informers, ComponentOptions options)
    : informers_(informers),
      options_(std::move(options)),
      leads_(!options_.standby),
      recorder_(informers.loop(), informers.client(), RecorderFor()) {}

Component::~Component() = default;

RecorderOptions Component::RecorderFor() {
  RecorderOptions recorder;
  recorder.component = options_.event_source;
  recorder.qps = options_.events_qps;
  recorder.metrics = informers_.metrics();
  if (options_.events_yield) recorder.busy = [this] { return under_way() > 0; };
  return recorder;
}

AnyInformer::OnDecodeError Component::OnUnreadable(Undecodable unread) {
  if (unread == Undecodable::kIgnored) return nullptr;
  return [this](const api::ObjectReference& regarding, const absl::Status& status) {
    unreadable_.Tell(regarding, status);
  };
}

void Component::WaitFor(AnyInformer& informer) {
  informer.ListenForSync(owner_.token(), [this] { Begin(); });
  watched_.push_back(&informer);
}

Driver& Component::Drive(std::string name, Driver::Decide decide) {
  DriverOptions options;
  options.name = name;
  options.qps = options_.qps;
  options.burst = options_.burst;
  options.max_in_flight = options_.max_in_flight;
  options.metrics = informers_.metrics();
  auto driver = std::make_unique<Driver>(loop(), client(), recorder_, std::move(options), std::move(decide));
  driver->SetOnReply([this](const Write& write, const Response& response) { OnReply(write, response); });
  driver->Sleep();
  return *drivers_.emplace_back(Driven{std::move(name), std::move(driver)}).driver;
}

void Component::Begin() {
  if (!leads_ || deciding_ || stopped_ || !synced()) return;
  deciding_ = true;
  for (const Driven& each : drivers_) each.driver->Wake();
  Wake();
  unreadable_.Begin();
}

void Component::Lead() {
  leads_ = true;
  Begin();
}

void Component::Stop() {
  stopped_ = true;
  deciding_ = false;
  unreadable_.End();
  for (const Driven& each : drivers_) each.driver->Sleep();
}

bool Component::stopped() const { return stopped_ && under_way() == 0; }

bool Component::synced() const {
  return std::all_of(watched_.begin(), watched_.end(), [](const AnyInformer* each) { return each->synced(); });
}

std::string Component::problem() const {
  for (const AnyInformer* const each : watched_) {
    if (std::string problem = each->problem(); !problem.empty()) return problem;
  }
  return "";
}

std::size_t Component::under_way() const {
  std::size_t plans = 0;
  for (const Driven& each : drivers_) plans += each.driver->under_way();
  return plans;
}

void Component::DumpDrivers(api::JsonWriter& json) const {
  for (const Driven& each : drivers_) {
    json.Key(each.name).BeginObject().Field("queuedKeys", static_cast<std::int64_t>(each.driver->queued()));
    json.Field("plansUnderWay", static_cast<std::int64_t>(each.driver->under_way())).EndObject();
  }
}

}  // namespace gangway::kube
