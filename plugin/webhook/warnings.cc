#include "plugin/webhook/warnings.h"

#include <boost/json.hpp>

#include "api/field_table.h"
#include "api/json_value.h"
#include "plugin/ingest/foresight.h"

namespace gangway::webhook {
namespace {

template <class T>
std::vector<std::string> Of(const boost::json::value& object) {
  std::vector<std::string> warnings;
  const absl::StatusOr<T> decoded = api::Decode<T>(api::ToJson(object));
  if (!decoded.ok()) return warnings;
  for (const ingest::Foresight& each : ingest::Foresee(*decoded)) warnings.push_back(each.ToString());
  return warnings;
}

}  // namespace

std::vector<std::string> WarningsOf(const api::Resource& resource, const boost::json::value& object) {
  if (&resource == &api::kJobs) return Of<api::volcano::Job>(object);
  if (&resource == &api::kPodGroups) return Of<api::volcano::PodGroup>(object);
  if (&resource == &api::kQueues) return Of<api::volcano::Queue>(object);
  return {};
}

}  // namespace gangway::webhook
