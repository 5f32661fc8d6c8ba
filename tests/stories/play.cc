#include <algorithm>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "api/json_value.h"
#include "api/kinds/kinds.h"
#include "api/resource.h"
#include "base/check.h"
#include "base/strings.h"
#include "tests/stories/story.h"

namespace gangway::testutil {
namespace {

namespace json = boost::json;

std::string Text(const json::value& value) {
  return value.is_string() ? std::string(value.as_string()) : api::ToJson(value);
}

// One or several.
std::vector<std::string> Texts(const json::value& value) {
  if (!value.is_array()) return {Text(value)};
  std::vector<std::string> out;
  for (const json::value& each : value.as_array()) out.push_back(Text(each));
  return out;
}

const api::Resource& ResourceOf(absl::string_view kind) {
  for (const bool custom : {true, false}) {  // a Job is Volcano's
    for (const api::KindRow& row : api::Kinds()) {
      if (row.custom() == custom && View(row.resource->kind) == kind) return *row.resource;
    }
  }
  GW_CHECK(false && "a kind that stories do not know");
  return api::kPods;
}

class Player {
 public:
  Player(const Story& story, World& world, const std::string& ns) : story_(story), world_(world), ns_(ns) {}

  std::string Run() {
    const kube::Response made =
        world_.Call("POST", "/api/v1/namespaces",
                    absl::StrCat(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":")", ns_, "\"}}"));
    if (!made.ok()) return absl::StrCat("namespace: ", *made.body);
    if (story_.holds) world_.Hold();
    for (const StoryStep& step : story_.steps) {
      where_ = step.where;
      if (!Do(step)) return absl::StrJoin(wrong_, "\n");
    }
    where_ = "in the end";
    if (story_.expected.contains("events")) CompareEvents();
    ComparePhases();
    CompareInjected();
    return absl::StrJoin(wrong_, "\n");
  }

 private:
  void Wrong(const std::string& what) { wrong_.push_back(absl::StrCat(where_, ": ", what)); }

  // False: what follows has no point.
  bool Do(const StoryStep& step) {
    if (step.verb == "create") return Create(step);
    if (step.verb == "apply") return Post(step.value.as_object(), step);
    if (step.verb == "patch") return Patch(step);
    if (step.verb == "command") return Command(step.value.as_object());
    if (step.verb == "until") return Until(step.value.as_object());
    if (step.verb == "moment") return Moment(step);
    if (step.verb == "nodes") world_.AddNodes(static_cast<int>(step.value.as_int64()));
    if (step.verb == "release") {
      for (const std::string& pod : Texts(step.value)) world_.Release(ns_, pod);
    }
    if (step.verb == "succeed") {
      for (const std::string& pod : step.value == "running" ? RunningPods() : Texts(step.value))
        world_.EndPod(ns_, pod, 0);
    }
    if (step.verb == "fail") {
      for (const auto& [pod, code] : step.value.as_object())
        world_.EndPod(ns_, std::string(pod), static_cast<int>(code.as_int64()));
    }
    if (step.verb == "delete") {
      for (const std::string& key : Texts(step.value)) {
        if (!Answered(world_.Call("DELETE", PathOf(key)), step)) return false;
      }
    }
    if (step.verb == "evict") {
      const std::string pod = Text(step.value);
      return Answered(world_.Call("POST", api::PathOf(api::kPods, ns_, pod, "eviction"),
                                  absl::StrCat(R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":")",
                                               pod, R"(","namespace":")", ns_, "\"}}")),
                      step);
    }
    return true;
  }

  // --- Steps.

  std::string NamespaceOf(const api::Resource& resource) const { return resource.namespaced ? ns_ : ""; }
  std::string PathOf(const std::string& key) const {
    const std::pair<std::string, std::string> parts = absl::StrSplit(key, absl::MaxSplits('/', 1));
    const api::Resource& resource = ResourceOf(parts.first);
    return api::PathOf(resource, NamespaceOf(resource), parts.second);
  }

  bool Answered(const kube::Response& reply, const StoryStep& step) {
    const json::value* const refused = step.fields.if_contains("refused");
    if (refused == nullptr ? reply.ok() : reply.code == refused->as_int64()) return true;
    Wrong(absl::StrCat("answered ", reply.code, ": ", *reply.body));
    return false;
  }

  bool Post(json::object object, const StoryStep& step) {
    if (auto* const metadata = object["metadata"].if_object()) metadata->erase("namespace");
    const api::Resource& resource = ResourceOf(Text(object.at("kind")));
    return Answered(world_.Call("POST", api::PathOf(resource, NamespaceOf(resource)), api::ToJson(object)), step);
  }

  bool Create(const StoryStep& step) {
    for (const std::string& key : Texts(step.value)) {
      const json::value* const input = story_.inputs.if_contains(key);
      if (input == nullptr) {
        Wrong(absl::StrCat("was not submitted: ", key));
        return false;
      }
      json::object object = input->as_object();
      if (const json::value* const name = step.fields.if_contains("as")) object["metadata"].as_object()["name"] = *name;
      if (!Post(std::move(object), step)) return false;
    }
    return true;
  }

  bool Patch(const StoryStep& step) {
    for (const auto& [key, patch] : step.value.as_object()) {
      const char* const type = patch.is_array() ? "application/json-patch+json" : "application/merge-patch+json";
      if (!Answered(world_.Call("PATCH", PathOf(std::string(key)), api::ToJson(patch), type), step)) return false;
    }
    return true;
  }

  bool Command(const json::object& commands) {
    for (const auto& [key, action] : commands) {
      const auto object = api::ParseJson(*world_.Call("GET", PathOf(std::string(key))).body);
      GW_CHECK(object.ok());
      json::object target{{"apiVersion", object->at("apiVersion")},
                          {"kind", object->at("kind")},
                          {"name", object->at("metadata").at("name")},
                          {"uid", object->at("metadata").at("uid")},
                          {"controller", true},
                          {"blockOwnerDeletion", true}};
      json::object metadata{{"generateName", absl::StrCat(Text(target.at("name")), "-")}, {"namespace", ns_}};
      if (target.at("kind") == "Job") metadata["ownerReferences"] = json::array{target};
      const json::object command{{"apiVersion", "bus.volcano.sh/v1alpha1"},
                                 {"kind", "Command"},
                                 {"metadata", metadata},
                                 {"action", action},
                                 {"target", target}};
      const kube::Response reply = world_.Call("POST", api::PathOf(api::kCommands, ns_), api::ToJson(command));
      if (!reply.ok()) {
        Wrong(*reply.body);
        return false;
      }
    }
    return true;
  }

  // --- Looking.

  json::array ListOf(const api::Resource& resource) const {
    const auto list = api::ParseJson(*world_.Call("GET", api::PathOf(resource, NamespaceOf(resource))).body);
    GW_CHECK(list.ok());
    return list->at("items").as_array();
  }

  std::vector<std::string> RunningPods() const {
    std::vector<std::string> names;
    for (const auto& [key, line] : LinesNow(api::kPods)) {
      if (line == "Running bound") names.push_back(key.substr(4));
    }
    return names;
  }

  Lines LinesNow(const api::Resource& resource) const {
    Lines lines = LinesOf(resource, ListOf(resource));
    // Queues are everybody's.
    if (&resource == &api::kQueues)
      std::erase_if(lines,
                    [&](const auto& each) { return !story_.expected.at("phases").as_object().contains(each.first); });
    return lines;
  }

  // The lines begin so; "gone": there is none.
  bool Until(const json::object& wanted) {
    std::string seen;
    const bool reached = world_.Eventually([&] {
      seen.clear();
      std::map<const api::Resource*, Lines> now;
      for (const auto& [key, text] : wanted) {
        const api::Resource& resource = ResourceOf(std::string(key.substr(0, key.find('/'))));
        if (!now.contains(&resource)) now[&resource] = LinesNow(resource);
        const auto found = now[&resource].find(std::string(key));
        const std::string line = found == now[&resource].end() ? "gone" : found->second;
        if (!absl::StartsWith(line, Text(text)))
          absl::StrAppend(&seen, seen.empty() ? "" : ", ", std::string(key), " is ", line);
        if (!seen.empty()) return false;
      }
      return true;
    });
    if (!reached) Wrong(absl::StrCat("until ", api::ToJson(wanted), ": ", seen));
    SeeInjected();
    return reached;
  }

  // Whose part a line is that is no object's own; "": it is one.
  static absl::string_view KindOfPart(absl::string_view kind) {
    if (kind == "Status" || kind == "Tasks") return "Job";
    return kind == "Counts" ? "PodGroup" : "";
  }

  static bool IsOf(const api::Resource& resource, const std::string& key) {
    const std::string kind = key.substr(0, key.find('/'));
    if (&resource == &api::kPods && (kind == "Waiting" || kind == "Nodes")) return true;
    return resource.kind == kind || View(resource.kind) == KindOfPart(kind);
  }

  // Everything is as in the snapshot, except what passes.
  bool Moment(const StoryStep& step) {
    const json::value* const named = step.fields.if_contains("passing");
    const std::vector<std::string> keys = named != nullptr ? Texts(*named) : std::vector<std::string>{};
    const auto passing = [&](const std::string& key) {
      const std::size_t slash = key.find('/');
      const absl::string_view of = KindOfPart(key.substr(0, slash));
      const std::string object = of.empty() ? key : absl::StrCat(of, key.substr(slash));
      return std::any_of(keys.begin(), keys.end(), [&](absl::string_view each) {
        return absl::ConsumeSuffix(&each, "*") ? absl::StartsWith(object, each) : object == each;
      });
    };
    Lines wanted;
    for (const auto& [key, line] : story_.expected.at("moments").at(Text(step.value)).as_object())
      wanted[std::string(key)] = Text(line);
    std::string differs;
    const bool reached = world_.Eventually([&] {
      for (const api::Resource* const resource : kObserved) {
        Lines expected = wanted, seen = LinesNow(*resource);
        std::erase_if(expected, [&](const auto& each) { return !IsOf(*resource, each.first) || passing(each.first); });
        // Volcano forgets what it counted when it kills; of Jobs that ended so there is nothing to compare
        // (docs/differences.md).
        std::erase_if(seen, [&](const auto& each) {
          const std::string name = each.first.substr(each.first.find('/') + 1);
          const bool ended = absl::StartsWith(each.first, "Tasks/") && !expected.contains(each.first) &&
                             expected.contains("Job/" + name);
          return passing(each.first) || ended;
        });
        differs = Difference(expected, seen);
        if (!differs.empty()) return false;
      }
      return true;
    });
    if (!reached) Wrong(absl::StrCat(Text(step.value), ": ", differs));
    SeeInjected();
    return reached || ++missed_ < 3;
  }

  void SeeInjected() {
    for (const api::Resource* const resource : kObserved) AddInjected(*resource, ListOf(*resource), injected_);
  }

  template <class Map>
  static std::string Difference(const Map& recorded, const Map& ours) {
    std::string out;
    for (const auto& [key, value] : recorded) {
      const auto found = ours.find(key);
      if (found == ours.end())
        absl::StrAppend(&out, "\n  ", key, ": ", Shown(value), " expected, is not there");
      else if (found->second != value)
        absl::StrAppend(&out, "\n  ", key, ": ", Shown(value), " expected, is ", Shown(found->second));
    }
    for (const auto& [key, value] : ours) {
      if (!recorded.contains(key)) absl::StrAppend(&out, "\n  ", key, ": not expected, is ", Shown(value));
    }
    return out;
  }
  static std::string Shown(const std::string& text) { return absl::StrCat("\"", text, "\""); }
  static std::string Shown(const std::vector<std::string>& list) {
    return absl::StrCat("[", absl::StrJoin(list, ", "), "]");
  }

  // --- In the end.

  static bool TellsToWait(absl::string_view line) {
    return absl::EndsWith(line, " FailedScheduling") || absl::EndsWith(line, " Unschedulable") ||
           absl::EndsWith(line, " PodGroupPending");
  }

  void CompareEvents() {
    std::set<std::string> must, may;
    for (const auto& [line, word] : story_.expected.at("events").as_object())
      (word == "must" ? must : may).insert(std::string(line));
    std::set<std::string> seen;
    std::string missing;
    world_.Eventually([&] {
      seen = EventsOf(ListOf(api::kEvents));
      missing.clear();
      for (const std::string& line : must) {
        if (!seen.contains(line)) absl::StrAppend(&missing, "\n  ", line);
      }
      return missing.empty();
    });
    if (!missing.empty()) Wrong(absl::StrCat("events are missing:", missing));
    for (const std::string& line : seen) {
      if (must.contains(line) || may.contains(line) || (!world_.prompt() && TellsToWait(line))) continue;
      Wrong(absl::StrCat("no such event was recorded: ", line));
    }
  }

  // What a real cluster has done it may tell a moment later.
  void ComparePhases() {
    std::string differs;
    world_.Eventually([&] { return (differs = DifferenceOfPhases()).empty(); });
    if (!differs.empty()) Wrong(absl::StrCat("phases:", differs));
  }
  std::string DifferenceOfPhases() const {
    std::map<std::string, std::vector<std::string>> recorded, ours = world_.PhasesOf(ns_).lasting();
    for (const auto& [key, sequence] : story_.expected.at("phases").as_object())
      recorded[std::string(key)] = Texts(sequence);
    const auto told = [&](absl::string_view kind) {
      return std::any_of(recorded.begin(), recorded.end(),
                         [&](const auto& each) { return absl::StartsWith(each.first, kind); });
    };
    const bool groups = told("PodGroup/");
    std::erase_if(ours, [&](const auto& each) {
      return each.second.empty() || (absl::StartsWith(each.first, "Queue/") && !recorded.contains(each.first)) ||
             (absl::StartsWith(each.first, "PodGroup/") && !groups);
    });
    std::erase_if(recorded, [](const auto& each) { return each.second.empty(); });
    if (!world_.prompt()) {  // where a PodGroup is seen before its pods it is let in before they are placed
      for (const auto& [key, sequence] : recorded) {
        const auto same = ours.find(key);
        if (absl::StartsWith(key, "PodGroup/") && same != ours.end() &&
            std::find(sequence.begin(), sequence.end(), "Inqueue") == sequence.end())
          std::erase(same->second, "Inqueue");
      }
    }
    return Difference(recorded, ours);
  }

  void CompareInjected() {
    Lines recorded, ours;
    const auto flatten = [](const json::object& from, Lines& to) {
      for (const auto& [key, fields] : from) {
        for (const auto& [name, value] : fields.as_object())
          to[absl::StrCat(std::string(key), " ", std::string(name))] = Sorted(value);
      }
    };
    const json::object& recorded_objects = story_.expected.at("injected").as_object();
    flatten(recorded_objects, recorded);
    // Snapshots were taken here and there; whatever was in none of them is not compared.
    json::object& seen = injected_;
    for (auto it = seen.begin(); it != seen.end();)
      it = recorded_objects.contains(it->key()) ? std::next(it) : seen.erase(it);
    flatten(seen, ours);
    const std::string differs = Difference(recorded, ours);
    if (!differs.empty()) Wrong(absl::StrCat("injected:", differs));
  }

  // Its JSON, members and items in order.
  static std::string Sorted(const json::value& value) {
    if (const json::object* const object = value.if_object()) {
      std::map<std::string, std::string> members;
      for (const auto& [key, member] : *object) members[std::string(key)] = Sorted(member);
      return absl::StrCat(
          "{",
          absl::StrJoin(members, ",",
                        [](std::string* out, const auto& each) { absl::StrAppend(out, each.first, ":", each.second); }),
          "}");
    }
    if (const json::array* const list = value.if_array()) {
      std::multiset<std::string> items;  // plugins of Volcano touch a pod in an order of chance
      for (const json::value& each : *list) items.insert(Sorted(each));
      return absl::StrCat("[", absl::StrJoin(items, ","), "]");
    }
    return api::ToJson(value);
  }

  const Story& story_;
  World& world_;
  const std::string ns_;
  std::string where_;
  json::object injected_;
  std::vector<std::string> wrong_;
  int missed_ = 0;
};

}  // namespace

std::string Play(const Story& story, World& world, const std::string& ns) { return Player(story, world, ns).Run(); }

}  // namespace gangway::testutil
