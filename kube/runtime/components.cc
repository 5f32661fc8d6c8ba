#include "kube/runtime/components.h"

#include <algorithm>

#include "api/json.h"

namespace gangway::kube {

void Components::Lead() {
  for (const auto& each : components_) each->Lead();
}

void Components::Stop() {
  for (const auto& each : components_) each->Stop();
}

bool Components::stopped() const {
  return std::all_of(components_.begin(), components_.end(), [](const auto& each) { return each->stopped(); });
}

bool Components::synced() const {
  return std::all_of(components_.begin(), components_.end(), [](const auto& each) { return each->synced(); });
}

std::string Components::problem() const {
  for (const auto& each : components_) {
    if (std::string problem = each->problem(); !problem.empty()) return problem;
  }
  return "";
}

std::size_t Components::events_waiting() const {
  std::size_t events = 0;
  for (const auto& each : components_) events += each->events_waiting();
  return events;
}

std::string Components::Dump() const {
  std::string out;
  api::JsonWriter json(out);
  json.BeginObject().Key("caches").BeginObject();
  informers_.DumpSizes(json);
  json.EndObject().Key("controllers").BeginObject();
  for (const auto& each : components_) each->DumpDrivers(json);
  json.EndObject().Field("eventsWaiting", static_cast<std::int64_t>(events_waiting()));
  for (const auto& each : components_) each->DumpMore(json);
  json.EndObject();
  return out;
}

}  // namespace gangway::kube
