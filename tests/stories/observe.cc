#include "tests/stories/observe.h"

#include <algorithm>
#include <regex>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/json_value.h"
#include "api/quantity.h"
#include "base/check.h"

namespace gangway::testutil {
namespace {

namespace json = boost::json;

const json::value* Find(const json::object& object, std::initializer_list<const char*> path) {
  const json::object* at = &object;
  const json::value* found = nullptr;
  for (const char* const key : path) {
    if (at == nullptr) return nullptr;
    found = at->if_contains(key);
    at = found == nullptr ? nullptr : found->if_object();
    if (found == nullptr) return nullptr;
  }
  return found->is_null() ? nullptr : found;
}

std::string Text(const json::object& object, std::initializer_list<const char*> path) {
  const json::value* const found = Find(object, path);
  return found != nullptr && found->is_string() ? std::string(found->as_string()) : "";
}

std::int64_t Number(const json::object& object, std::initializer_list<const char*> path) {
  const json::value* const found = Find(object, path);
  return found != nullptr && found->is_int64() ? found->as_int64() : 0;
}

const json::array& List(const json::object& object, std::initializer_list<const char*> path) {
  static const json::array& none = *new json::array();
  const json::value* const found = Find(object, path);
  return found != nullptr && found->is_array() ? found->as_array() : none;
}

constexpr std::int64_t kNodeMilliCpu = 16'000;  // of every node in the recordings, and in stories

const std::regex& Uid() {
  static const std::regex& uid = *new std::regex("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}");
  return uid;
}

std::string NameOf(const json::object& object) { return Text(object, {"metadata", "name"}); }
bool ClustersOwn(const std::string& name) { return name == "kube-root-ca.crt" || name == "kubernetes"; }

// --- States.

// Times are whole seconds: of two in one second the one that the phase says.
const json::object* NewestCondition(const json::object& group) {
  const std::string phase = Text(group, {"status", "phase"});
  const bool whole = phase == "Running" || phase == "Completed";
  const json::object* newest = nullptr;
  const auto rank = [&](const json::object& condition) {
    return std::pair(Text(condition, {"lastTransitionTime"}), (Text(condition, {"type"}) == "Scheduled") == whole);
  };
  for (const json::value& condition : List(group, {"status", "conditions"})) {
    if (newest == nullptr || rank(condition.as_object()) > rank(*newest)) newest = &condition.as_object();
  }
  return newest;
}

// Bound, though the next session has yet to write Running.
bool Placed(const json::object& group) {
  const json::object* const newest = NewestCondition(group);
  return Text(group, {"status", "phase"}) == "Inqueue" && newest != nullptr && Text(*newest, {"type"}) == "Scheduled";
}

std::string JobState(const json::object& job) {
  const std::string phase = Text(job, {"status", "state", "phase"});
  const std::int64_t retries = Number(job, {"status", "retryCount"});
  return phase.empty() || retries == 0 ? phase : absl::StrCat(phase, " r", retries);
}

std::string JobLine(const json::object& job) {
  const std::string phase = Text(job, {"status", "state", "phase"});
  const bool final = phase == "Completed" || phase == "Failed" || phase == "Aborted" || phase == "Terminated";
  std::string line = JobState(job);
  for (const char* const counter : {"pending", "running", "succeeded", "failed", "unknown", "terminating"}) {
    const std::int64_t count = Number(job, {"status", counter});
    if (count != 0 && (!final || absl::string_view(counter) == "terminating"))
      absl::StrAppend(&line, " ", counter, "=", count);
  }
  return line;
}

std::string StatusLine(const json::object& job) {
  const auto status = [](std::string* out, const json::value& condition) {
    absl::StrAppend(out, Text(condition.as_object(), {"status"}));
  };
  return absl::StrCat("min ", Number(job, {"status", "minAvailable"}), ": ",
                      absl::StrJoin(List(job, {"status", "conditions"}), ", ", status));
}

std::string TasksLine(const json::object& job) {
  std::map<std::string, std::string> tasks;
  if (const json::value* const counts = Find(job, {"status", "taskStatusCount"})) {
    for (const auto& [task, by_phase] : counts->as_object()) {
      std::map<std::string, std::int64_t> phases;
      for (const auto& [phase, count] : by_phase.as_object().at("phase").as_object())
        phases[std::string(phase)] = count.as_int64();
      tasks[std::string(task)] = absl::StrJoin(
          phases, ", ", [](std::string* out, const auto& each) { absl::StrAppend(out, each.second, " ", each.first); });
    }
  }
  return absl::StrJoin(tasks, "; ", absl::PairFormatter(": "));
}

std::string GroupLine(const json::object& group) {
  std::string line = Placed(group) ? "Running" : Text(group, {"status", "phase"});
  if (const json::object* const newest = NewestCondition(group)) {
    absl::StrAppend(&line, "; ", Text(*newest, {"type"}), "=", Text(*newest, {"status"}), " ",
                    Text(*newest, {"reason"}));
  }
  return line;
}

std::string CountsLine(const json::object& group) {
  std::vector<std::string> counts;
  for (const char* const counter : {"running", "succeeded", "failed"}) {
    if (const std::int64_t count = Number(group, {"status", counter}); count != 0)
      counts.push_back(absl::StrCat(counter, "=", count));
  }
  return absl::StrJoin(counts, " ");
}

std::string PodLine(const json::object& pod) {
  return absl::StrCat(Text(pod, {"status", "phase"}), Text(pod, {"spec", "nodeName"}).empty() ? "" : " bound",
                      Text(pod, {"metadata", "deletionTimestamp"}).empty() ? "" : " terminating");
}

// Milli-cpu that the pod's containers ask for.
std::int64_t CpuOf(const json::object& pod) {
  std::int64_t milli = 0;
  for (const json::value& container : List(pod, {"spec", "containers"})) {
    const auto cpu = api::Quantity::Parse(Text(container.as_object(), {"resources", "requests", "cpu"}));
    if (cpu.ok() && cpu->Milli().ok()) milli += *cpu->Milli();
  }
  return milli;
}

// Of a Job no two of whose pods find room on one node: how many nodes those are on that have not ended.
void AddNodes(const json::array& pods, Lines& lines) {
  struct Spread {
    int pods = 0;
    std::set<std::string> nodes;
    bool small = false;
  };
  std::map<std::string, Spread> by_job;
  for (const json::value& item : pods) {
    const json::object& pod = item.as_object();
    const std::string job = Text(pod, {"metadata", "labels", "volcano.sh/job-name"}),
                      node = Text(pod, {"spec", "nodeName"}), phase = Text(pod, {"status", "phase"});
    if (job.empty() || node.empty() || (phase != "Pending" && phase != "Running")) continue;
    Spread& spread = by_job[job];
    ++spread.pods;
    spread.nodes.insert(node);
    spread.small = spread.small || 2 * CpuOf(pod) <= kNodeMilliCpu;
  }
  for (const auto& [job, spread] : by_job) {
    if (!spread.small) lines["Nodes/" + job] = absl::StrCat(spread.pods, " pods on ", spread.nodes.size());
  }
}

void AddWaiting(const json::array& pods, Lines& lines) {
  std::map<std::string, std::map<std::string, int>> by_task;
  for (const json::value& item : pods) {
    const json::object& pod = item.as_object();
    if (!Text(pod, {"spec", "nodeName"}).empty()) continue;
    std::string task = NameOf(pod);
    while (!task.empty() && absl::ascii_isdigit(static_cast<unsigned char>(task.back()))) task.pop_back();
    while (!task.empty() && task.back() == '-') task.pop_back();
    for (const json::value& condition : List(pod, {"status", "conditions"})) {
      if (Text(condition.as_object(), {"type"}) == "PodScheduled")
        ++by_task[task][Text(condition.as_object(), {"reason"})];
    }
  }
  for (const auto& [task, reasons] : by_task) {
    lines["Waiting/" + task] = absl::StrJoin(
        reasons, ", ", [](std::string* out, const auto& each) { absl::StrAppend(out, each.second, " ", each.first); });
  }
}

// --- What is filled in.

using Names = std::map<std::string, std::string>;  // as they are, and without their random end

json::value Anonymous(const json::value& value, const Names& names) {
  if (const json::object* const object = value.if_object()) {
    std::map<std::string, json::value> sorted;
    for (const auto& [key, member] : *object) {
      if (key == "value" && member.is_string() && member.as_string().empty())
        continue;  // an API server with types leaves it out
      sorted[std::string(key)] = key == "volcano.sh/job-namespace" ? json::value("<ns>") : Anonymous(member, names);
    }
    return json::object(sorted.begin(), sorted.end());
  }
  if (const json::array* const list = value.if_array()) {
    json::array out;
    for (const json::value& item : *list) out.push_back(Anonymous(item, names));
    return out;
  }
  if (!value.is_string()) return value;
  const std::string text(value.as_string());
  const auto found = names.find(text);
  return json::value(found != names.end() ? found->second : std::regex_replace(text, Uid(), "<uid>"));
}

json::array Owners(const json::object& object) {
  json::array owners;
  for (const json::value& owner : List(object, {"metadata", "ownerReferences"})) {
    const json::value* const controller = owner.as_object().if_contains("controller");
    owners.push_back(json::value(
        absl::StrCat(Text(owner.as_object(), {"kind"}), "/", Text(owner.as_object(), {"name"}),
                     controller != nullptr && controller->is_bool() && controller->as_bool() ? " controller" : "")));
  }
  return owners;
}

// Labels or annotations, without the recorder's means, the volume controller's marks and records of our own.
json::object Told(const json::value* map) {
  json::object out;
  if (map == nullptr) return out;
  for (const auto& [key, value] : map->as_object()) {
    if (!key.starts_with("test.kwok/") && !key.starts_with("pv.kubernetes.io/") && !key.starts_with("gangway.io/"))
      out[key] = value;
  }
  return out;
}

void Copy(const json::object& from, std::initializer_list<const char*> keys, const Names& names, json::object& to) {
  for (const char* const key : keys) {
    if (const json::value* const value = from.if_contains(key)) to[key] = Anonymous(*value, names);
  }
}

json::object InjectedIntoPod(const json::object& pod) {
  const json::object& spec = pod.at("spec").as_object();
  Names names;
  for (const json::value& volume : List(spec, {"volumes"})) {
    const std::string name = Text(volume.as_object(), {"name"}),
                      claim = Text(volume.as_object(), {"persistentVolumeClaim", "claimName"});
    names[name] = PlainName(name);
    if (!claim.empty()) names[claim] = PlainName(claim);
  }
  json::object out;
  out["labels"] = Anonymous(Told(Find(pod, {"metadata", "labels"})), names);
  out["annotations"] = Anonymous(Told(Find(pod, {"metadata", "annotations"})), names);
  out["owner"] = Owners(pod);
  Copy(spec,
       {"hostname", "subdomain", "schedulerName", "priorityClassName", "hostNetwork", "dnsPolicy", "restartPolicy"},
       names, out);
  for (const char* const kind : {"initContainers", "containers"}) {
    for (const json::value& item : List(spec, {kind})) {
      const json::object& container = item.as_object();
      json::object parts;
      for (const char* const part : {"env", "ports", "volumeMounts"}) {
        if (!List(container, {part}).empty()) parts[part] = Anonymous(*Find(container, {part}), names);
      }
      out[absl::StrCat(kind, "/", Text(container, {"name"}))] = std::move(parts);
    }
  }
  if (!List(spec, {"volumes"}).empty()) out["volumes"] = Anonymous(*Find(spec, {"volumes"}), names);
  return out;
}

json::object InjectedIntoJob(const json::object& job) {
  json::object out;
  const json::object& spec = job.at("spec").as_object();
  Copy(spec, {"minAvailable", "queue", "maxRetry", "schedulerName"}, {}, out);
  json::array tasks;
  for (const json::value& task : List(spec, {"tasks"})) {
    json::object told;
    Copy(task.as_object(), {"name", "replicas", "minAvailable", "maxRetry"}, {}, told);
    tasks.push_back(std::move(told));
  }
  out["tasks"] = std::move(tasks);
  json::object resources;
  if (const json::value* const all = Find(job, {"status", "controlledResources"})) {
    for (const auto& [key, value] : all->as_object()) {
      if (key.starts_with("plugin-")) resources[key] = value;
    }
  }
  out["controlledResources"] = std::move(resources);
  return out;
}

json::object InjectedInto(const api::Resource& resource, const json::object& object) {
  if (&resource == &api::kPods) return InjectedIntoPod(object);
  json::object out;
  const json::value* const spec_value = Find(object, {"spec"});
  const json::object none, &spec = spec_value != nullptr ? spec_value->as_object() : none;
  if (&resource == &api::kJobs) out = InjectedIntoJob(object);
  if (&resource == &api::kPodGroups) Copy(spec, {"minMember", "minTaskMember", "minResources", "queue"}, {}, out);
  if (&resource == &api::kServices) Copy(spec, {"clusterIP", "selector", "ports", "publishNotReadyAddresses"}, {}, out);
  if (&resource == &api::kNetworkPolicies) Copy(spec, {"podSelector", "ingress", "policyTypes"}, {}, out);
  if (&resource == &api::kPersistentVolumeClaims) Copy(spec, {"accessModes", "resources", "storageClassName"}, {}, out);
  if (&resource == &api::kConfigMaps)
    out["data"] = Find(object, {"data"}) != nullptr ? object.at("data") : json::value(json::object());
  if (&resource == &api::kSecrets) {
    std::set<std::string> keys;
    if (const json::value* const data = Find(object, {"data"})) {
      for (const auto& member : data->as_object()) keys.insert(std::string(member.key()));
    }
    out["keys"] = json::array(keys.begin(), keys.end());
  }
  out["owner"] = Owners(object);
  for (const char* const part : {"labels", "annotations"}) {
    json::object kept = Told(Find(object, {"metadata", part}));
    if (!kept.empty()) out[part] = Anonymous(kept, {});
  }
  return out;
}

std::vector<std::string> Lasting(const std::vector<std::string>& life, bool first, bool removed) {
  std::size_t end = life.size();
  while (removed && end > 1 &&
         (life[end - 1] == "Unknown" || life[end - 1] == "Completed" || life[end - 1] == "Pending"))
    --end;
  std::vector<std::size_t> runs;
  for (std::size_t i = 0; i < end; ++i) {
    if (life[i] == "Running") runs.push_back(i);
  }
  const auto at = [&](std::size_t i) { return life.begin() + static_cast<std::ptrdiff_t>(i); };
  std::vector<std::string> kept;
  if (first) kept.assign(life.begin(), at(runs.empty() ? 0 : runs.front()));
  kept.insert(kept.end(), at(runs.empty() ? 0 : runs.back()), at(end));
  return kept;
}

}  // namespace

std::string PlainName(const std::string& name) {
  static const std::regex& uid = *new std::regex("-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}");
  static const std::regex& random_end = *new std::regex("-[a-z0-9]{12}$");
  return std::regex_replace(std::regex_replace(name, uid, ""), random_end, "");
}

Lines LinesOf(const api::Resource& resource, const json::array& items) {
  Lines lines;
  for (const json::value& item : items) {
    const json::object& object = item.as_object();
    const std::string name = NameOf(object);
    if (ClustersOwn(name)) continue;
    std::string& line = lines[absl::StrCat(resource.kind.data(), "/", PlainName(name))];
    if (&resource == &api::kJobs) {
      line = JobLine(object);
      lines["Status/" + PlainName(name)] = StatusLine(object);
      lines["Tasks/" + PlainName(name)] = TasksLine(object);
    } else if (&resource == &api::kPodGroups) {
      line = GroupLine(object);
      lines["Counts/" + PlainName(name)] = CountsLine(object);
    } else if (&resource == &api::kPods) {
      line = PodLine(object);
    } else if (&resource == &api::kQueues) {
      line = Text(object, {"status", "state"});
    } else {
      line = "there";
    }
  }
  if (&resource == &api::kPods) {
    AddWaiting(items, lines);
    AddNodes(items, lines);
  }
  return lines;
}

std::set<std::string> EventsOf(const json::array& items) {
  std::set<std::string> out;
  for (const json::value& item : items) {
    const json::object& event = item.as_object();
    const std::string from = Text(event, {"source", "component"});
    if (from != "volcano" && from != "vc-controller-manager") continue;
    out.insert(absl::StrCat(Text(event, {"involvedObject", "kind"}), "/",
                            PlainName(Text(event, {"involvedObject", "name"})), " ", Text(event, {"type"}), " ",
                            Text(event, {"reason"})));
  }
  return out;
}

void AddInjected(const api::Resource& resource, const json::array& items, json::object& injected) {
  if (&resource == &api::kQueues) return;
  for (const json::value& item : items) {
    const json::object& object = item.as_object();
    const std::string name = NameOf(object);
    const auto later = [&](const char* key) {
      const std::string count = Text(object, {"metadata", "annotations", key});
      return !count.empty() && count != "0";
    };
    if (ClustersOwn(name) || later("volcano.sh/job-version") || later("volcano.sh/job-retry-count") ||
        !Text(object, {"metadata", "deletionTimestamp"}).empty())
      continue;
    const std::string key = absl::StrCat(resource.kind.data(), "/", PlainName(name));
    if (!injected.contains(key)) injected[key] = InjectedInto(resource, object);
  }
}

std::map<std::string, std::vector<std::string>> Phases::lasting() const {
  std::map<std::string, std::vector<std::string>> told = seen_;
  for (auto& [key, sequence] : told) {
    if (!absl::StartsWith(key, "PodGroup/")) continue;
    std::vector<std::string> kept, life;
    bool first = true;
    const auto add = [&](bool removed) {
      const std::vector<std::string> lasting = Lasting(life, first, removed);
      kept.insert(kept.end(), lasting.begin(), lasting.end());
      if (removed) kept.push_back("gone");
      life.clear();
      first = false;
    };
    for (const std::string& state : sequence) state == "gone" ? add(true) : life.push_back(state);
    add(false);
    sequence = std::move(kept);
  }
  return told;
}

void Phases::Tell(const sandbox::JournalRecord& record) {
  const bool told =
      record.resource == &api::kJobs || record.resource == &api::kPodGroups || record.resource == &api::kQueues;
  if (!told) return;
  std::vector<std::string>& sequence =
      seen_[absl::StrCat(record.resource->kind.data(), "/", PlainName(record.key.name))];
  const auto append = [&](const std::string& state) {
    if (!state.empty() && (sequence.empty() || sequence.back() != state)) sequence.push_back(state);
  };
  if (record.after == nullptr) return append("gone");
  const auto parsed = api::ParseJson(*record.after);
  GW_CHECK(parsed.ok());
  const json::object& object = parsed->as_object();
  if (record.resource == &api::kJobs) append(JobState(object));
  if (record.resource == &api::kQueues) append(Text(object, {"status", "state"}));
  if (record.resource == &api::kPodGroups) {
    append(Text(object, {"status", "phase"}));
    if (Placed(object)) append("Running");
  }
}

}  // namespace gangway::testutil
