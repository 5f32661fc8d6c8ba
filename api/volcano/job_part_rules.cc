// Rules of a Job's policies, volumes, plugins and dependencies (Volcano: pkg/webhooks/admission/jobs/validate/util.go).
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/json.h"
#include "api/name.h"
#include "api/volcano/admission_rules.h"
#include "api/volcano/job_plugins.h"

namespace gangway::api::volcano {
namespace {

constexpr absl::string_view kUserEvents[] = {"*",       "PodFailed",     "PodEvicted", "PodPending",
                                             "Unknown", "TaskCompleted", "TaskFailed", "JobUpdated"};
constexpr absl::string_view kUserActions[] = {"AbortJob",         "RestartJob",   "RestartTask", "RestartPod",
                                              "RestartPartition", "TerminateJob", "CompleteJob", "ResumeJob"};

template <class List>
bool Contains(const List& list, absl::string_view word) {
  return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

template <class List>
std::string Supported(const List& list) {
  const auto quoted = [](std::string* out, absl::string_view word) { absl::StrAppend(out, "\"", word, "\""); };
  return absl::StrCat("supported values: ", absl::StrJoin(std::begin(list), std::end(list), ", ", quoted));
}

// The policies of one list, with what the earlier ones have taken.
class PolicyRules {
 public:
  PolicyRules(const std::string& path, FieldErrors& errors) : list_(path), errors_(errors) {}

  void Check(const LifecyclePolicy& policy, std::size_t index) {
    const std::string path = IndexPath(list_, index);
    const bool by_event = !policy.event.empty() || !policy.events.empty();
    if (by_event && policy.exit_code.has_value()) {
      return AddInvalid(errors_, absl::StrCat(path, ".exitCode"), absl::StrCat(*policy.exit_code),
                        "must not be given together with an event", "make two policies of it");
    }
    if (by_event) return CheckEvents(policy, path);
    if (policy.exit_code.has_value()) return CheckExitCode(*policy.exit_code, path);
    AddError(errors_, FieldError::Type::kRequired, absl::StrCat(path, ".event"), "",
             "a policy needs an event or an exitCode");
  }

  // After all of them: the wildcard leaves nothing for others.
  void Finish() {
    if (policy_of_.size() < 2 || !policy_of_.contains("*")) return;
    AddInvalid(errors_, list_, "\"*\"", "the event * includes all others, so it must be the only one",
               "remove the other events or the *");
  }

 private:
  void CheckEvents(const LifecyclePolicy& policy, const std::string& path) {
    for (std::size_t i = 0; i < policy.events.size(); ++i) {
      CheckEvent(policy.events[i], path, absl::StrCat(path, ".events[", i, "]"));
    }
    if (!policy.event.empty()) CheckEvent(policy.event, path, absl::StrCat(path, ".event"));
    const std::string action = absl::StrCat(path, ".action");
    if (policy.action.empty()) {
      AddError(errors_, FieldError::Type::kRequired, action, "", Supported(kUserActions));
    } else if (!Contains(kUserActions, policy.action)) {
      AddError(errors_, FieldError::Type::kNotSupported, action, JsonString(policy.action), Supported(kUserActions));
    }
  }

  void CheckEvent(const std::string& event, const std::string& path, const std::string& field) {
    if (!Contains(kUserEvents, event)) {
      return AddError(errors_, FieldError::Type::kNotSupported, field, JsonString(event),
                      absl::StrCat("Volcano raises this event for itself only; ", Supported(kUserEvents)));
    }
    const auto [it, fresh] = policy_of_.try_emplace(event, path);
    if (fresh || it->second == path) return;
    AddError(errors_, FieldError::Type::kDuplicate, field, JsonString(event),
             absl::StrCat(it->second, " has the same event"), "each event can have one policy");
  }

  // The action of such a policy is not judged: Volcano does not (1.7, 5), and what it does not know it ignores.
  void CheckExitCode(std::int32_t code, const std::string& path) {
    const std::string field = absl::StrCat(path, ".exitCode");
    if (code == 0) AddInvalid(errors_, field, "0", "must not be 0, which is no failure", "use the event TaskCompleted");
    const auto [it, fresh] = policy_of_code_.try_emplace(code, path);
    if (fresh) return;
    AddError(errors_, FieldError::Type::kDuplicate, field, absl::StrCat(code),
             absl::StrCat(it->second, " has the same exit code"), "each exit code can have one policy");
  }

  const std::string& list_;
  FieldErrors& errors_;
  std::map<std::string, std::string> policy_of_;  // by event
  std::map<std::int32_t, std::string> policy_of_code_;
};

// Walks who waits for whom.
class DependencyWalk {
 public:
  DependencyWalk(const std::vector<TaskSpec>& tasks, FieldErrors& errors)
      : tasks_(tasks), errors_(errors), state_(tasks.size()) {
    for (std::size_t i = 0; i < tasks.size(); ++i) index_of_.try_emplace(tasks[i].name, i);
    for (const TaskSpec& task : tasks) {
      std::vector<std::size_t>& out = dependencies_.emplace_back();
      if (!task.depends_on.has_value()) continue;
      for (const std::string& name : task.depends_on->name) {
        if (const auto it = index_of_.find(name); it != index_of_.end()) out.push_back(it->second);
      }
    }
  }

  void CheckNames() {
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      if (!tasks_[i].depends_on.has_value()) continue;
      std::set<std::string> seen;
      const std::vector<std::string>& names = tasks_[i].depends_on->name;
      for (std::size_t k = 0; k < names.size(); ++k) {
        std::string field = absl::StrCat("spec.tasks[", i, "].dependsOn.name[", k, "]");
        if (!index_of_.contains(names[k])) {
          AddError(errors_, FieldError::Type::kNotFound, field, JsonString(names[k]), "no task has this name");
        }
        if (!seen.insert(names[k]).second) {
          AddError(errors_, FieldError::Type::kDuplicate, field, JsonString(names[k]), "", "name each task once");
        }
      }
    }
  }

  // Depth first with a stack of our own; tasks come from users.
  void FindCircles() {
    for (std::size_t root = 0; root < tasks_.size() && !Full(errors_); ++root) {
      if (state_[root] != State::kNew) continue;
      std::vector<std::pair<std::size_t, std::size_t>> path = {{root, 0}};
      state_[root] = State::kOpen;
      while (!path.empty() && !Full(errors_)) {
        auto& [task, next] = path.back();
        if (next == dependencies_[task].size()) {
          state_[task] = State::kDone;
          path.pop_back();
          continue;
        }
        const std::size_t other = dependencies_[task][next++];
        if (state_[other] == State::kOpen) Report(path, other);
        if (state_[other] != State::kNew) continue;
        state_[other] = State::kOpen;
        path.emplace_back(other, 0);
      }
    }
  }

 private:
  enum class State : std::uint8_t { kNew, kOpen, kDone };

  void Report(const std::vector<std::pair<std::size_t, std::size_t>>& path, std::size_t back_to) {
    auto from = std::find_if(path.begin(), path.end(), [&](const auto& step) { return step.first == back_to; });
    std::vector<std::string> names;
    for (; from != path.end(); ++from) names.push_back(tasks_[from->first].name);
    names.push_back(tasks_[back_to].name);
    AddInvalid(errors_, absl::StrCat("spec.tasks[", path.back().first, "].dependsOn.name"),
               JsonString(tasks_[back_to].name),
               absl::StrCat("the tasks wait for each other: ", absl::StrJoin(names, " -> ")),
               "remove one of these dependencies");
  }

  const std::vector<TaskSpec>& tasks_;
  FieldErrors& errors_;
  std::vector<State> state_;
  absl::flat_hash_map<absl::string_view, std::size_t> index_of_;
  std::vector<std::vector<std::size_t>> dependencies_;  // by task
};

}  // namespace

void CheckPolicies(const std::vector<LifecyclePolicy>& policies, const std::string& path, FieldErrors& errors) {
  PolicyRules rules(path, errors);
  for (std::size_t i = 0; i < policies.size(); ++i) rules.Check(policies[i], i);
  rules.Finish();
}

void CheckVolumes(const std::vector<VolumeSpec>& volumes, FieldErrors& errors) {
  std::map<std::string, std::size_t> first;
  for (std::size_t i = 0; i < volumes.size(); ++i) {
    const VolumeSpec& volume = volumes[i];
    const std::string path = absl::StrCat("spec.volumes[", i, "]");
    const auto [it, fresh] = first.try_emplace(volume.mount_path, i);
    if (!fresh) {
      AddError(errors, FieldError::Type::kDuplicate, absl::StrCat(path, ".mountPath"), JsonString(volume.mount_path),
               absl::StrCat("spec.volumes[", it->second, "] is mounted there"));
    }
    const bool claim = !volume.volume_claim.empty();
    const std::string& name = volume.volume_claim_name;
    if (!claim && name.empty()) {
      AddError(errors, FieldError::Type::kRequired, absl::StrCat(path, ".volumeClaimName"), "",
               "either volumeClaimName (a claim that exists) or volumeClaim (one to create) must be given");
    } else if (claim && !name.empty()) {
      AddError(errors, FieldError::Type::kForbidden, absl::StrCat(path, ".volumeClaimName"), "",
               "must not be given together with volumeClaim",
               "keep volumeClaimName for a claim that exists, volumeClaim for one to create");
    } else if (!name.empty()) {
      for (const std::string& complaint : CheckDns1123Subdomain(name)) {
        AddInvalid(errors, absl::StrCat(path, ".volumeClaimName"), JsonString(name), complaint);
      }
    }
  }
}

void CheckPlugins(const JobSpec& spec, FieldErrors& errors) {
  for (const auto& [name, flags] : spec.plugins) {
    const JobPlugin* const plugin = FindJobPlugin(name);
    if (plugin == nullptr) {
      std::vector<absl::string_view> known;
      for (const JobPlugin& each : kJobPlugins) known.emplace_back(each.name.data(), each.name.size());
      AddError(errors, FieldError::Type::kNotSupported, ChildPath("spec.plugins", name), "",
               absl::StrCat("there is no such job plugin; ", Supported(known)));
    } else if (plugin->check != nullptr) {
      plugin->check(spec, flags, errors);
    }
  }
}

void CheckDependencies(const std::vector<TaskSpec>& tasks, FieldErrors& errors) {
  DependencyWalk walk(tasks, errors);
  walk.CheckNames();
  walk.FindCircles();
}

}  // namespace gangway::api::volcano
