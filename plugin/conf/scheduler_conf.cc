#include "plugin/conf/scheduler_conf.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "api/duration.h"
#include "api/json_value.h"
#include "api/manifest/manifest.h"
#include "base/nearest.h"
#include "base/status_macros.h"
#include "plugin/conf/conf_document.h"
#include "plugin/conf/words.h"

namespace gangway::conf {
namespace {

namespace json = boost::json;
using api::AbslView;

constexpr double kLeastFactor = 1.0, kMostFactor = 100.0;
constexpr int kFactorOfOvercommit = 120;  // percent; volcano: plugins/overcommit
constexpr std::size_t kShownBytes = 80;

constexpr char kResourceWeight[] = "binpack.resources.";

// What somebody wrote, in a message: on one line, and not all of it when that is much.
std::string Shown(absl::string_view text) {
  std::string shown = absl::Utf8SafeCEscape(text.substr(0, kShownBytes));
  return text.size() > kShownBytes ? absl::StrCat(shown, "...") : shown;
}

std::string Maybe(absl::string_view word, const std::vector<std::string>& known) {
  const std::string near = Nearest(word, known);
  return near.empty() ? "" : absl::StrCat("; did you mean ", near, "?");
}

std::vector<std::string> SplitNames(absl::string_view text) {
  std::vector<std::string> names;
  for (const absl::string_view part : absl::StrSplit(text, ',')) names.emplace_back(absl::StripAsciiWhitespace(part));
  return names;
}

// volcano: framework/arguments.go, GetBool
std::optional<bool> BoolOf(const json::value& value) {
  if (value.is_bool()) return value.as_bool();
  if (!value.is_string()) return std::nullopt;
  const absl::string_view text = AbslView(value.as_string());
  for (const char* yes : {"1", "t", "T", "true", "TRUE", "True"}) {
    if (text == yes) return true;
  }
  for (const char* no : {"0", "f", "F", "false", "FALSE", "False"}) {
    if (text == no) return false;
  }
  return std::nullopt;
}

const char* TypeText(Type type) {
  switch (type) {
    case Type::kInteger:
      return "a whole number without quotes";
    case Type::kNumber:
      return "a number without quotes";
    case Type::kBool:
      return "true or false";
    case Type::kText:
      return "text";
    case Type::kDuration:
      return "a duration such as 1h30m";
    case Type::kAnything:
      return "anything";
  }
  return "";
}

bool HasType(const json::value& value, Type type) {
  switch (type) {
    case Type::kInteger:
      return value.is_int64();
    case Type::kNumber:
      return value.is_number();
    case Type::kBool:
      return BoolOf(value).has_value();
    case Type::kText:
    case Type::kDuration:
      return value.is_string();
    case Type::kAnything:
      return true;
  }
  return false;
}

// As Volcano's argument writes it: "1.2".
std::string FactorText(int percent) { return absl::StrCat(percent / 100.0); }

class Reader {
 public:
  explicit Reader(const api::ManifestDocument& document) : document_(document) {}

  absl::StatusOr<SchedulerConf> Read() {
    GW_ASSIGN_OR_RETURN(const json::value root, api::ParseJson(document_.json));
    if (!root.is_object()) return Wrong("", "must be a map with actions and tiers");
    const json::object& file = root.as_object();
    if (const json::value* kind = file.if_contains("kind"); kind != nullptr && *kind == "ConfigMap") {
      return Wrong("kind",
                   "this is the ConfigMap; give the file that it holds, the text of its key volcano-scheduler.conf");
    }
    GW_RETURN_IF_ERROR(ReadActions(file));
    GW_RETURN_IF_ERROR(ReadTiers(file));
    GW_RETURN_IF_ERROR(ReadConfigurations(file));
    for (const auto& member : file) LookAtTopKey(AbslView(member.key()), member.value());
    TellWhatIsMissed();
    Finish();
    return std::move(conf_);
  }

 private:
  // A plugin as it is listed last.
  struct Plugin {
    std::string path;
    std::set<std::string> off;  // switches that are false
    const json::object* arguments = nullptr;
  };

  absl::Status Wrong(absl::string_view path, absl::string_view what) const {
    return absl::InvalidArgumentError(
        absl::StrCat(document_.source, ":", document_.Find(path).line, ": ", path, path.empty() ? "" : ": ", what));
  }
  void Tell(Note::Kind kind, absl::string_view path, std::string subject, std::string text) {
    conf_.notes.push_back({kind, document_.Find(path).line, std::move(subject), std::move(text)});
  }

  // ---- actions

  absl::Status ReadActions(const json::object& file) {
    const json::value* const value = file.if_contains("actions");
    if (value == nullptr || value->is_null())
      return Wrong("actions", "must be there, such as actions: \"enqueue, allocate, backfill\"");
    if (!value->is_string())
      return Wrong("actions", "must be one text with commas, such as \"enqueue, allocate, backfill\"");
    std::set<std::string> actions;
    for (const std::string& name : SplitNames(AbslView(value->as_string()))) {
      const Word* const word = FindWord(Actions(), name);
      if (word == nullptr)
        return Wrong("actions",
                     absl::StrCat("there is no action \"", Shown(name), "\"", Maybe(name, NamesOf(Actions()))));
      if (actions.insert(name).second && word->text[0] != '\0')
        Tell(word->kind, "actions", absl::StrCat("action ", name), word->text);
    }
    if (!actions.contains("allocate"))
      Tell(Note::Kind::kOtherwise, "actions", "action allocate", "is not listed, and gangs are placed anyhow");
    enqueue_ = actions.contains("enqueue");
    conf_.policy.preempt = actions.contains("preempt") || actions.contains("gangpreempt");
    conf_.policy.reclaim = actions.contains("reclaim") || actions.contains("gangreclaim");
    conf_.policy.consolidate = actions.contains("consolidation");
    return absl::OkStatus();
  }

  // ---- tiers

  absl::Status ReadTiers(const json::object& file) {
    const json::value* const tiers = file.if_contains("tiers");
    if (tiers != nullptr && !tiers->is_null()) {
      if (!tiers->is_array()) return Wrong("tiers", "must be a list of maps with plugins");
      for (std::size_t i = 0; i < tiers->as_array().size(); ++i) {
        GW_RETURN_IF_ERROR(ReadTier(tiers->as_array()[i], absl::StrCat("tiers[", i, "]")));
      }
    }
    Follow();
    return absl::OkStatus();
  }

  absl::Status ReadTier(const json::value& tier, const std::string& path) {
    if (tier.is_null()) return absl::OkStatus();
    if (!tier.is_object()) return Wrong(path, "must be a map with plugins");
    const json::value* plugins = nullptr;
    for (const auto& member : tier.as_object()) {
      const absl::string_view key = AbslView(member.key());
      if (key == "plugins") {
        plugins = &member.value();
      } else {
        Tell(Note::Kind::kMistake, absl::StrCat(path, "[", key, "]"), absl::StrCat(path, ".", Shown(key)),
             absl::StrCat("there is no such key", Maybe(key, {"plugins"})));
      }
    }
    if (plugins == nullptr || plugins->is_null()) return absl::OkStatus();
    if (!plugins->is_array()) return Wrong(absl::StrCat(path, ".plugins"), "must be a list of maps with a name");
    bool drf_by_hierarchy = false, proportion = false;
    for (std::size_t i = 0; i < plugins->as_array().size(); ++i) {
      const std::string at = absl::StrCat(path, ".plugins[", i, "]");
      const json::value& plugin = plugins->as_array()[i];
      GW_RETURN_IF_ERROR(ReadPlugin(plugin, at));
      const json::value& name = plugin.as_object().at("name");
      const json::value* const hierarchy = plugin.as_object().if_contains("enableHierarchy");
      drf_by_hierarchy = drf_by_hierarchy || (name == "drf" && hierarchy != nullptr && *hierarchy == true);
      proportion = proportion || name == "proportion";
    }
    // volcano: pkg/scheduler/util.go, unmarshalSchedulerConf
    if (drf_by_hierarchy && proportion)
      return Wrong(path, "drf with enableHierarchy and proportion cannot be in one tier: leave out one of them");
    return absl::OkStatus();
  }

  absl::Status ReadPlugin(const json::value& value, const std::string& path) {
    if (!value.is_object()) return Wrong(path, "must be a map with the name of a plugin");
    const json::object& plugin = value.as_object();
    const json::value* const name_value = plugin.if_contains("name");
    if (name_value == nullptr || !name_value->is_string())
      return Wrong(absl::StrCat(path, ".name"), "must be the name of a plugin");
    const std::string name(AbslView(name_value->as_string()));
    const std::string subject = absl::StrCat("plugin ", Shown(name));
    Plugin read{path, {}, nullptr};
    const Word* const word = FindWord(Plugins(), name);
    for (const auto& member : plugin) {
      const absl::string_view key = AbslView(member.key());
      const std::string at = absl::StrCat(path, "[", key, "]");
      if (key == "name") continue;
      if (key == "arguments") {
        if (member.value().is_null()) continue;
        if (!member.value().is_object()) return Wrong(absl::StrCat(path, ".", key), "must be a map");
        read.arguments = &member.value().as_object();
        continue;
      }
      const Switch* const known = FindSwitch(name, key);
      if (known == nullptr) {
        std::vector<std::string> names = NamesOf(Switches());
        names.insert(names.end(), {"name", "arguments"});
        Tell(Note::Kind::kMistake, at, absl::StrCat(subject, ": ", Shown(key)),
             absl::StrCat("there is no such key", Maybe(key, names)));
        continue;
      }
      if (member.value().is_null()) continue;
      if (!member.value().is_bool())
        return Wrong(absl::StrCat(path, ".", key),
                     absl::StrCat("must be true or false, not ", Shown(api::ToJson(member.value()))));
      const bool on = member.value().as_bool();
      if (!on) read.off.insert(std::string(key));
      if (on != known->fallback && word != nullptr && !IsFollowed(name, key))
        Tell(known->kind, at, absl::StrCat(subject, ": ", key), known->text);
    }
    if (word == nullptr) {
      Tell(Note::Kind::kMistake, path, subject,
           absl::StrCat("there is no such plugin", Maybe(name, NamesOf(Plugins()))));
      return absl::OkStatus();
    }
    if (word->text[0] != '\0') Tell(word->kind, path, subject, word->text);
    if (listed_.contains(name)) Tell(Note::Kind::kMistake, path, subject, "is listed before; what is said here counts");
    listed_[name] = read;
    return absl::OkStatus();
  }

  static bool IsFollowed(absl::string_view plugin, absl::string_view key) {
    return (key == "enableJobEnqueued" &&
            (plugin == "overcommit" || plugin == "proportion" || plugin == "capacity" || plugin == "resourcequota")) ||
           (key == "enableNodeOrder" && plugin == "binpack") || (key == "enableJobOrder" && plugin == "sla");
  }

  const Plugin* Listed(const std::string& name) const {
    const auto found = listed_.find(name);
    return found == listed_.end() ? nullptr : &found->second;
  }

  // ---- what is followed

  void Follow() {
    for (const auto& [name, plugin] : listed_) {
      if (plugin.arguments != nullptr && HasArguments(name)) LookAtArguments(name, plugin);
    }
    FollowOvercommit();
    const auto votes = [this](const char* name) {
      return Listed(name) != nullptr && !Listed(name)->off.contains("enableJobEnqueued");
    };
    conf_.policy.admit_by_queues = enqueue_ && (votes("proportion") || votes("capacity"));
    conf_.policy.admit_by_quotas = enqueue_ && votes("resourcequota");
    if (Listed("capacity") != nullptr) conf_.policy.sharing = gang::Sharing::kAsWritten;
    if (!enqueue_) conf_.policy.overcommit_percent.reset();
    FollowBinpack();
    FollowSla();
    FollowUse();
    FollowPatience();
    FollowVolumes();
  }

  // Tells of arguments that are unknown, of another type, or not followed.
  void LookAtArguments(const std::string& name, const Plugin& plugin) {
    std::vector<std::string> known;
    for (const Argument& argument : Arguments()) {
      if (name == argument.plugin) known.emplace_back(argument.name);
    }
    for (const auto& member : *plugin.arguments) {
      const absl::string_view key = AbslView(member.key());
      if (name == "binpack" && absl::StartsWith(key, kResourceWeight)) continue;
      const absl::Span<const Argument> all = Arguments();
      const auto argument =
          std::find_if(all.begin(), all.end(), [&](const Argument& a) { return name == a.plugin && key == a.name; });
      if (argument == all.end()) {
        TellOf(Note::Kind::kMistake, name, plugin, key, absl::StrCat("there is no such argument", Maybe(key, known)));
      } else if (!HasType(member.value(), argument->type)) {
        TellOf(Note::Kind::kMistake, name, plugin, key,
               absl::StrCat("must be ", TypeText(argument->type), ", not ", Shown(api::ToJson(member.value())),
                            "; it counts as absent"));
      } else if (argument->text[0] != '\0') {
        const std::optional<bool> truth = argument->type == Type::kBool ? BoolOf(member.value()) : std::nullopt;
        const std::string said = truth.has_value() ? (*truth ? "true" : "false") : api::ToJson(member.value());
        if (argument->silent_when == nullptr || said != argument->silent_when)
          TellOf(argument->kind, name, plugin, key, argument->text);
      }
    }
  }

  void TellOf(Note::Kind kind, absl::string_view name, const Plugin& plugin, absl::string_view key, std::string text) {
    Tell(kind, absl::StrCat(plugin.path, ".arguments[", key, "]"), absl::StrCat("plugin ", name, ": ", Shown(key)),
         std::move(text));
  }

  // The argument when it is there and has its type.
  static const json::value* ArgumentOf(const Plugin& plugin, absl::string_view key, Type type) {
    const json::value* const value =
        plugin.arguments == nullptr ? nullptr : plugin.arguments->if_contains(api::JsonView(key));
    return value != nullptr && HasType(*value, type) ? value : nullptr;
  }

  void FollowOvercommit() {
    conf_.policy.overcommit_percent.reset();
    const Plugin* const plugin = Listed("overcommit");
    if (plugin == nullptr || plugin->off.contains("enableJobEnqueued")) return;
    conf_.policy.overcommit_percent = kFactorOfOvercommit;
    constexpr char kKey[] = "overcommit-factor";
    const json::value* const value = ArgumentOf(*plugin, kKey, Type::kNumber);
    if (value == nullptr) return;
    const double factor = value->to_number<double>();
    if (factor < kLeastFactor)
      return TellOf(Note::Kind::kMistake, "overcommit", *plugin, kKey,
                    "must be 1 or more; it counts as 1.2, as in Volcano");
    conf_.policy.overcommit_percent = static_cast<int>(std::lround(std::min(factor, kMostFactor) * 100));
    if (factor > kMostFactor) {
      TellOf(Note::Kind::kOtherwise, "overcommit", *plugin, kKey,
             absl::StrCat("counts as ", kMostFactor, "; leave the plugin out to let everybody in"));
    } else if (std::abs(factor * 100 - *conf_.policy.overcommit_percent) > 1e-6) {
      TellOf(Note::Kind::kOtherwise, "overcommit", *plugin, kKey,
             absl::StrCat("counts as ", FactorText(*conf_.policy.overcommit_percent)));
    }
  }

  void FollowBinpack() {
    const Plugin* const plugin = Listed("binpack");
    if (plugin == nullptr || plugin->off.contains("enableNodeOrder")) return;
    if (const json::value* const weight = ArgumentOf(*plugin, "binpack.weight", Type::kInteger); weight != nullptr) {
      if (*weight == 0) {
        return TellOf(
            Note::Kind::kOtherwise, "binpack", *plugin, "binpack.weight",
            "turns binpack off, and fuller nodes are filled first anyhow; all resources but disk count the same");
      }
      TellOf(Note::Kind::kAnyhow, "binpack", *plugin, "binpack.weight",
             "how full a node is comes after soft taints and preferences, however much it weighs");
    }
    auto& weights = conf_.policy.packing.weights.emplace();
    weights["cpu"] = WeightOf(*plugin, "binpack.cpu");
    weights["memory"] = WeightOf(*plugin, "binpack.memory");
    std::vector<std::string> names;
    if (const json::value* const resources = ArgumentOf(*plugin, "binpack.resources", Type::kText);
        resources != nullptr) {
      names = SplitNames(AbslView(resources->as_string()));
    }
    for (const std::string& name : names) {
      if (!name.empty()) weights[name] = WeightOf(*plugin, absl::StrCat(kResourceWeight, name));
    }
    if (plugin->arguments == nullptr) return;
    for (const auto& member : *plugin->arguments) {
      absl::string_view name = AbslView(member.key());
      if (!absl::ConsumePrefix(&name, kResourceWeight) || std::find(names.begin(), names.end(), name) != names.end())
        continue;
      TellOf(Note::Kind::kMistake, "binpack", *plugin, AbslView(member.key()),
             absl::StrCat("does not count: add ", Shown(name), " to binpack.resources"));
    }
  }

  // volcano: plugins/binpack, calculateWeight: what is negative counts as 1.
  std::int64_t WeightOf(const Plugin& plugin, const std::string& key) {
    const json::value* const value = plugin.arguments == nullptr ? nullptr : plugin.arguments->if_contains(key);
    if (value == nullptr) return 1;
    const bool fits =
        value->is_int64() && value->as_int64() >= 0 && value->as_int64() <= std::numeric_limits<std::int32_t>::max();
    if (fits) return value->as_int64();
    const bool told = !value->is_int64() && FindArgument(key);
    if (!told)
      TellOf(Note::Kind::kMistake, "binpack", plugin, key,
             absl::StrCat("must be a whole number, 0 or more, not ", Shown(api::ToJson(*value)), "; it counts as 1"));
    return 1;
  }
  // Whether LookAtArguments knows it.
  static bool FindArgument(const std::string& key) {
    const absl::Span<const Argument> all = Arguments();
    return std::any_of(all.begin(), all.end(), [&](const Argument& argument) { return key == argument.name; });
  }

  void FollowUse() {
    constexpr char kKey[] = "gangway.usageHalfLife";
    for (const char* const name : {"proportion", "capacity"}) {
      const Plugin* const plugin = Listed(name);
      const json::value* const value = plugin == nullptr ? nullptr : ArgumentOf(*plugin, kKey, Type::kDuration);
      if (value == nullptr) continue;
      const auto half_life = api::ParseGoDuration(AbslView(value->as_string()));
      if (half_life.ok() && *half_life >= absl::Minutes(1)) {
        conf_.policy.use_half_life = *half_life;
      } else {
        TellOf(Note::Kind::kMistake, name, *plugin, kKey,
               "must be a duration of a minute or more such as 24h; it counts as absent");
      }
    }
  }

  void FollowPatience() {
    constexpr char kKey[] = "gangway.reclaimAfter";
    for (const char* const name : {"proportion", "capacity"}) {
      const Plugin* const plugin = Listed(name);
      const json::value* const value = plugin == nullptr ? nullptr : ArgumentOf(*plugin, kKey, Type::kDuration);
      if (value == nullptr) continue;
      const auto after = api::ParseGoDuration(AbslView(value->as_string()));
      if (after.ok() && *after >= absl::ZeroDuration()) {
        conf_.policy.reclaim_after = *after;
      } else {
        TellOf(Note::Kind::kMistake, name, *plugin, kKey, "must be a duration such as 1h; it counts as absent");
      }
    }
  }

  void FollowVolumes() {
    constexpr char kKey[] = "bindTimeoutSeconds";
    const Plugin* const plugin = Listed("predicates");
    const json::value* const value = plugin == nullptr ? nullptr : ArgumentOf(*plugin, kKey, Type::kInteger);
    if (value == nullptr) return;
    if (value->as_int64() > 0) {
      conf_.policy.volumes_take = absl::Seconds(value->as_int64());
    } else {
      TellOf(Note::Kind::kMistake, "predicates", *plugin, kKey, "must be 1 or more; it counts as 600");
    }
  }

  void FollowSla() {
    const Plugin* const plugin = Listed("sla");
    if (plugin == nullptr || plugin->off.contains("enableJobOrder")) return;
    conf_.policy.by_deadline = true;
    const json::value* const value = ArgumentOf(*plugin, "sla-waiting-time", Type::kDuration);
    if (value == nullptr) return;
    const auto wait = api::ParseGoDuration(AbslView(value->as_string()));
    if (wait.ok() && *wait > absl::ZeroDuration()) {
      conf_.policy.waiting_time = *wait;
    } else {
      TellOf(Note::Kind::kMistake, "sla", *plugin, "sla-waiting-time",
             "must be a positive duration such as 1h30m; it counts as absent");
    }
  }

  // ---- the rest

  absl::Status ReadConfigurations(const json::object& file) {
    const json::value* const list = file.if_contains("configurations");
    if (list == nullptr || list->is_null()) return absl::OkStatus();
    if (!list->is_array())
      return Wrong("configurations", "must be a list of maps with the name of an action and arguments");
    for (std::size_t i = 0; i < list->as_array().size(); ++i) {
      const std::string path = absl::StrCat("configurations[", i, "]");
      const json::value& one = list->as_array()[i];
      const json::value* const name = one.is_object() ? one.as_object().if_contains("name") : nullptr;
      if (name == nullptr || !name->is_string()) return Wrong(path, "must be a map with the name of an action");
      const std::string action(AbslView(name->as_string()));
      const std::string subject = absl::StrCat("arguments of action ", Shown(action));
      if (FindWord(Actions(), action) == nullptr) {
        Tell(Note::Kind::kMistake, path, subject,
             absl::StrCat("there is no such action", Maybe(action, NamesOf(Actions()))));
      } else {
        Tell(Note::Kind::kAnyhow, path, subject, "they say how Volcano searches and evicts, and decide nothing here");
        TellOfWholeBundles(one.as_object(), path, subject);
      }
    }
    return absl::OkStatus();
  }

  // Of gangpreempt and gangreclaim; who switched that off means to keep gangs from going.
  void TellOfWholeBundles(const json::object& configuration, const std::string& path, const std::string& subject) {
    constexpr char kKey[] = "allowWholeBundle";
    const json::value* const arguments = configuration.if_contains("arguments");
    const json::value* const allowed =
        arguments != nullptr && arguments->is_object() ? arguments->as_object().if_contains(kKey) : nullptr;
    if (allowed == nullptr || BoolOf(*allowed) != false) return;
    Tell(Note::Kind::kOtherwise, absl::StrCat(path, ".arguments[", kKey, "]"), absl::StrCat(subject, ": ", kKey),
         "gangs go as a whole all the same, where members beyond minima are not enough; volcano.sh/preemptable: "
         "\"false\" on a Job keeps its gang");
  }

  void LookAtTopKey(absl::string_view key, const json::value& value) {
    if (key == "actions" || key == "tiers" || key == "configurations") return;
    const std::string path = absl::StrCat("[", key, "]");
    if (key == "metrics") {
      if (!value.is_null())
        Tell(Note::Kind::kOtherwise, "metrics", "metrics", "what nodes really use is not measured; requests decide");
      return;
    }
    Tell(Note::Kind::kMistake, path, Shown(key),
         absl::StrCat("there is no such key", Maybe(key, {"actions", "tiers", "configurations", "metrics"})));
  }

  void TellWhatIsMissed() {
    for (const Word& word : PluginsThatAreMissed()) {
      if (Listed(word.name) == nullptr) Tell(word.kind, "tiers", absl::StrCat("plugin ", word.name), word.text);
    }
    constexpr char kBoth[] = "plugins proportion and capacity";
    const bool by_weight = Listed("proportion") != nullptr, as_written = Listed("capacity") != nullptr;
    if (!by_weight && !as_written) {
      Tell(Note::Kind::kOtherwise, "tiers", kBoth,
           "are not listed; what queues deserve goes by weight, and capability limits what of them is placed, anyhow");
    } else if (by_weight && as_written) {
      Tell(Note::Kind::kOtherwise, "tiers", kBoth,
           "are both listed; what queues deserve is what they say, not their weights; leave out one of them");
    }
  }

  void Finish() {
    std::vector<Note>& notes = conf_.notes;
    std::stable_sort(notes.begin(), notes.end(), [](const Note& a, const Note& b) { return a.line < b.line; });
    if (notes.size() <= kMaxNotes) return;
    const std::size_t beyond = notes.size() - kMaxNotes + 1;
    notes.resize(kMaxNotes - 1);
    notes.push_back(
        {Note::Kind::kMistake, notes.back().line, "and so on", absl::StrCat("there are ", beyond, " more such lines")});
  }

  const api::ManifestDocument& document_;
  std::map<std::string, Plugin> listed_;
  bool enqueue_ = false;
  SchedulerConf conf_;
};

}  // namespace

std::string NoteText(absl::string_view source, const Note& note) {
  return absl::StrCat(source, ":", note.line, ": ", note.subject, ": ", note.text);
}

absl::StatusOr<SchedulerConf> ReadSchedulerConf(absl::string_view text, absl::string_view source) {
  GW_ASSIGN_OR_RETURN(const api::ManifestDocument document, ReadConfDocument(text, source));
  return Reader(document).Read();
}

std::string PolicyText(const gang::Policy& policy) {
  std::vector<std::string> limits;
  if (policy.overcommit_percent.has_value())
    limits.push_back(absl::StrCat("up to the cluster's room times ", FactorText(*policy.overcommit_percent)));
  if (policy.admit_by_queues) limits.push_back("what queues have room for");
  if (policy.admit_by_quotas) limits.push_back("what quotas of namespaces leave");
  std::string text = absl::StrCat("lets in ", limits.empty() ? "everybody" : absl::StrJoin(limits, " and "));
  if (policy.sharing == gang::Sharing::kAsWritten) absl::StrAppend(&text, "; queues deserve what they say");
  if (policy.use_half_life.has_value()) {
    absl::StrAppend(&text, "; what queues held ", api::FormatGoDuration(*policy.use_half_life),
                    policy.sharing == gang::Sharing::kAsWritten
                        ? " ago counts half as much as what they hold, in whose turn it is beyond what they deserve"
                        : " ago lowers their weights half as much as what they hold");
  }
  std::vector<std::string> weights;
  if (policy.packing.weights.has_value()) {
    for (const auto& [name, weight] : *policy.packing.weights)
      weights.push_back(absl::StrCat(Shown(name), " ", weight));
  }
  absl::StrAppend(&text, "; fills fuller nodes first, by ",
                  weights.empty() ? "all resources alike" : absl::StrJoin(weights, ", "));
  if (policy.by_deadline) {
    absl::StrAppend(&text, "; who must wait least goes first",
                    policy.waiting_time.has_value()
                        ? absl::StrCat(", ", api::FormatGoDuration(*policy.waiting_time), " where nothing is said")
                        : "");
  }
  std::vector<std::string> evicts;
  if (policy.preempt) evicts.emplace_back("for a higher priority in a queue");
  if (policy.reclaim) {
    evicts.push_back(absl::StrCat("for a queue that holds less than it deserves",
                                  policy.reclaim_after > absl::ZeroDuration()
                                      ? absl::StrCat(", who has run for long when it has waited for ",
                                                     api::FormatGoDuration(policy.reclaim_after))
                                      : ""));
  }
  if (policy.consolidate) evicts.emplace_back("what may be moved, so that free room lies together");
  absl::StrAppend(&text, "; evicts ", evicts.empty() ? "nobody" : absl::StrJoin(evicts, " and "));
  return text;
}

}  // namespace gangway::conf
