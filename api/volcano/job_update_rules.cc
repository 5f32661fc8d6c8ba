// Rules of a Job that is changed (Volcano: pkg/webhooks/admission/jobs/validate/admit_job.go): what may change, and
// that the numbers still agree.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <boost/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/field_table.h"
#include "api/json_value.h"
#include "api/quantity.h"
#include "api/volcano/admission_rules.h"

namespace gangway::api::volcano {
namespace {

using boost::json::value;

constexpr std::size_t kMaxDifferences = 10;
constexpr std::size_t kMaxShownBytes = 128;

std::optional<Quantity> AsQuantity(const value& v) {
  if (!v.is_string() && !v.is_number()) return std::nullopt;
  const absl::StatusOr<Quantity> quantity =
      Quantity::Parse(v.is_string() ? AbslView(v.get_string()) : absl::string_view(ToJson(v)));
  if (!quantity.ok()) return std::nullopt;
  return *quantity;
}

// Absent and empty are one, as Volcano's comparison has it. Zero and false are not: some fields of a template mean
// something by them.
bool Empty(const value* v) {
  if (v == nullptr || v->is_null()) return true;
  if (const boost::json::array* a = v->if_array()) return a->empty();
  if (const boost::json::string* s = v->if_string()) return s->empty();
  if (const boost::json::object* o = v->if_object()) return o->empty();
  return false;
}

const value* Find(const boost::json::object& object, boost::json::string_view key) {
  const auto it = object.find(key);
  return it == object.end() ? nullptr : &it->value();
}

// The paths at which two documents mean different things.
class Differences {
 public:
  Differences(absl::string_view path, FieldErrors& errors) : errors_(errors), path_(path) {}

  void Compare(const value* before, const value* after, bool quantities) {
    if (found_ >= kMaxDifferences) return;
    if (Empty(before) && Empty(after) && !IsPlugin()) return;
    if ((before == nullptr) != (after == nullptr) && IsPlugin()) return Report(before, after);
    if (before != nullptr && after != nullptr) {
      if (before->is_object() && after->is_object()) return CompareObjects(before->get_object(), after->get_object());
      if (before->is_array() && after->is_array() && before->get_array().size() == after->get_array().size()) {
        for (std::size_t i = 0; i < before->get_array().size(); ++i) {
          const PathStep step(path_, "[", i, "]");
          Compare(&before->get_array()[i], &after->get_array()[i], false);
        }
        return;
      }
      if (*before == *after) return;
      if (quantities && AsQuantity(*before).has_value() && AsQuantity(*before) == AsQuantity(*after)) return;
    }
    Report(before, after);
  }

 private:
  void Report(const value* before, const value* after) {
    ++found_;
    AddError(errors_, FieldError::Type::kForbidden, path_, "",
             absl::StrCat("may not be changed, from ", Shown(before), " to ", Shown(after)),
             "of a job only minAvailable, priorityClassName and its tasks' replicas and minAvailable may be");
  }

  // A plugin without flags is an empty list, and yet it is there.
  bool IsPlugin() const { return absl::StartsWith(path_, "spec.plugins."); }

  static std::string Shown(const value* v) {
    if (v == nullptr) return "absent";
    std::string json = ToJson(*v);
    if (json.size() > kMaxShownBytes) json = absl::StrCat(json.substr(0, kMaxShownBytes), "...");
    return json;
  }

  void CompareObjects(const boost::json::object& before, const boost::json::object& after) {
    const bool quantities = IsResources();
    for (const auto& member : before) {
      const PathStep step(path_, ".", AbslView(member.key()));
      Compare(&member.value(), Find(after, member.key()), quantities);
    }
    for (const auto& member : after) {
      if (before.contains(member.key())) continue;
      const PathStep step(path_, ".", AbslView(member.key()));
      Compare(nullptr, &member.value(), quantities);
    }
  }

  bool IsResources() const {
    const absl::string_view last = absl::string_view(path_).substr(path_.rfind('.') + 1);
    return last == "requests" || last == "limits" || last == "overhead" || last == "capacity";
  }

  FieldErrors& errors_;
  std::string path_;  // of what is compared
  std::size_t found_ = 0;
};

// `after` with what may change taken from `before`, so that what still differs may not.
JobSpec WithoutAllowedChanges(JobSpec after, const JobSpec& before) {
  after.min_available = before.min_available;
  after.priority_class_name = before.priority_class_name;
  for (std::size_t i = 0; i < after.tasks.size(); ++i) {
    after.tasks[i].replicas = before.tasks[i].replicas;
    after.tasks[i].min_available = before.tasks[i].min_available;
  }
  // The controller writes the name of the claim it made.
  for (std::size_t i = 0; i < std::min(after.volumes.size(), before.volumes.size()); ++i) {
    if (!after.volumes[i].volume_claim.empty())
      after.volumes[i].volume_claim_name = before.volumes[i].volume_claim_name;
  }
  return after;
}

void CheckNumbers(const JobSpec& spec, FieldErrors& errors) {
  std::int64_t replicas = 0;
  for (std::size_t i = 0; i < spec.tasks.size(); ++i) {
    const TaskSpec& task = spec.tasks[i];
    const std::string path = absl::StrCat("spec.tasks[", i, "]");
    replicas += task.replicas;
    if (task.min_available.value_or(0) > task.replicas) {
      AddInvalid(errors, absl::StrCat(path, ".minAvailable"), absl::StrCat(*task.min_available),
                 absl::StrCat("must not be greater than the task's replicas, ", task.replicas),
                 "lower it in the same change as replicas");
    }
    CheckPartition(task, path, errors);
  }
  if (spec.min_available > replicas) {
    AddInvalid(errors, "spec.minAvailable", absl::StrCat(spec.min_available),
               absl::StrCat("must not be greater than the replicas of all tasks together, ", replicas),
               "lower it in the same change as replicas");
  }
  if (spec.network_topology.has_value()) CheckTopology(*spec.network_topology, "spec.networkTopology", errors);
}

}  // namespace

void CheckJobUpdate(const Job& before, const Job& after, FieldErrors& errors) {
  CheckNumbers(after.spec, errors);
  if (before.spec.tasks.size() != after.spec.tasks.size()) {
    return AddError(errors, FieldError::Type::kForbidden, "spec.tasks", "",
                    absl::StrCat("tasks may not be added or removed; there were ", before.spec.tasks.size(), ", now ",
                                 after.spec.tasks.size()),
                    "make a new job");
  }
  const absl::StatusOr<value> old_spec = ParseJson(Encode(before.spec));
  const absl::StatusOr<value> new_spec = ParseJson(Encode(WithoutAllowedChanges(after.spec, before.spec)));
  if (!old_spec.ok() || !new_spec.ok()) {  // a template deeper than documents may be
    return AddInvalid(errors, "spec", "", "cannot be compared with what it was");
  }
  Differences("spec", errors).Compare(&*old_spec, &*new_spec, false);
}

}  // namespace gangway::api::volcano
