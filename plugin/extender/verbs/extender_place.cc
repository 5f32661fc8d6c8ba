#include "plugin/extender/verbs/extender_place.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include <boost/json.hpp>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "api/duration.h"
#include "api/json_path.h"
#include "api/json_value.h"
#include "base/nearest.h"
#include "base/status_macros.h"
#include "plugin/conf/conf_document.h"
#include "plugin/conf/scheduler_conf.h"

namespace gangway::extender {
namespace {

namespace json = boost::json;
using api::AbslView;

constexpr char kPlugin[] = "extender";
constexpr char kPrefix[] = "extender.";
constexpr char kUrlPrefix[] = "extender.urlPrefix", kTimeout[] = "extender.httpTimeout",
               kIgnorable[] = "extender.ignorable", kManaged[] = "extender.managedResources";
constexpr absl::Duration kUsualTimeout = absl::Seconds(1);  // where none is written that can be read
constexpr absl::Duration kLongTimeout = absl::Seconds(10);  // each question may hold the scheduler up so long

// What it takes for a verb to be asked: a switch of the plugin that is not false, and an action.
struct Gate {
  Verb verb;
  const char* flag;    // nullptr: none
  const char* action;  // nullptr: allocate or another that is always there
};
constexpr std::array<Gate, 8> kGates = {{
    {Verb::kJobEnqueueable, "enableJobEnqueued", "enqueue"},
    {Verb::kJobEnqueued, "enableJobEnqueued", "enqueue"},
    {Verb::kJobReady, "enableJobReady", nullptr},
    {Verb::kPredicate, "enablePredicate", nullptr},
    {Verb::kPrioritize, "enableNodeOrder", nullptr},
    {Verb::kPreemptable, "enablePreemptable", "preempt"},
    {Verb::kReclaimable, "enableReclaimable", "reclaim"},
    {Verb::kQueueOverused, "enabledOverused", nullptr},
}};

// A plugin that has a say in the same question. Volcano asks tier by tier, and in a tier in the order of the file.
constexpr std::array<absl::string_view, 4> kLetIn = {"overcommit", "proportion", "capacity", "resourcequota"};
constexpr std::array<absl::string_view, 4> kEvict = {"gang", "priority", "conformance", "pdb"};

std::string VerbKey(Verb verb) { return absl::StrCat(kPrefix, VerbName(verb), "Verb"); }
std::string TierText(std::size_t tier) { return absl::StrCat("tier ", tier + 1); }

class PlaceReader {
 public:
  PlaceReader(const api::ManifestDocument& document, const json::value& root, const AskedExtender& asked)
      : document_(document), asked_(asked) {
    for (const absl::string_view name : absl::StrSplit(api::TextAt(root, {"actions"}), ','))
      actions_.emplace_back(absl::StripAsciiWhitespace(name));
    const json::array& tiers = api::ListAt(root, {"tiers"});
    for (std::size_t tier = 0; tier < tiers.size(); ++tier) {
      const json::array& plugins = api::ListAt(tiers[tier], {"plugins"});
      for (std::size_t at = 0; at < plugins.size(); ++at) {
        listed_.push_back({tier, at, api::TextAt(plugins[at], {"name"}),
                           absl::StrCat("tiers[", tier, "].plugins[", at, "]"), &plugins[at]});
      }
    }
  }

  ExtenderPlace Read() {
    for (const Listed& one : listed_) {
      if (one.name != kPlugin) continue;
      if (extender_ != nullptr)
        Tell("D-EXTENDER-TIER", one.path,
             "extender is listed twice: there is one set of its functions, of what is written last, and it is called "
             "once for each time that it is listed",
             "leave out one of them");
      extender_ = &one;
    }
    out_.listed = extender_ != nullptr;
    if (!out_.listed) return std::move(out_);
    out_.url = Text(kUrlPrefix);
    LookAtArguments();
    LookAtUrl();
    LookAtVerbs();
    LookAtTiers();
    LookAtFailure();
    LookAtTimeout();
    LookAtCost();
    std::stable_sort(out_.faults.begin(), out_.faults.end(),
                     [](const auto& a, const auto& b) { return a.line < b.line; });
    return std::move(out_);
  }

 private:
  struct Listed {
    std::size_t tier, at;
    std::string name, path;
    const json::value* plugin;
    bool On(const char* flag) const {
      const json::value* const value = flag == nullptr ? nullptr : api::ValueAt(*plugin, {flag});
      return value == nullptr || !value->is_bool() || value->get_bool();
    }
  };

  void Tell(const char* code, absl::string_view path, std::string what, std::string remedy) {
    out_.faults.push_back({code, document_.Find(path).line, std::move(what), std::move(remedy)});
  }
  std::string PathOf(absl::string_view key) const { return absl::StrCat(extender_->path, ".arguments[", key, "]"); }

  const json::value* Argument(absl::string_view key) const {
    return api::ValueAt(*extender_->plugin, {"arguments", api::JsonView(key)});
  }
  // As the plugin reads it: what is no text is absent.
  std::string Text(absl::string_view key) const {
    const json::value* const value = Argument(key);
    return value != nullptr && value->is_string() ? std::string(AbslView(value->get_string())) : "";
  }
  bool Configured(Verb verb) const { return !Text(VerbKey(verb)).empty(); }
  bool Acts(absl::string_view action) const {
    return std::find(actions_.begin(), actions_.end(), action) != actions_.end();
  }
  // Whether the scheduler comes to ask it.
  bool Asked(Verb verb) const {
    const auto gate = std::find_if(kGates.begin(), kGates.end(), [&](const Gate& one) { return one.verb == verb; });
    return Configured(verb) &&
           (gate == kGates.end() || (extender_->On(gate->flag) && (gate->action == nullptr || Acts(gate->action))));
  }
  bool ignorable() const {
    const json::value* const value = Argument(kIgnorable);
    if (value == nullptr) return false;
    if (value->is_bool()) return value->get_bool();
    const std::string text = absl::AsciiStrToLower(Text(kIgnorable));
    return text == "true" || text == "t" || text == "1";
  }
  // Those of the names that stand in another tier than the extender and have the switch.
  template <class Names>
  std::vector<std::string> InTiers(const Names& names, const char* flag, bool before) const {
    std::vector<std::string> out;
    for (const Listed& one : listed_) {
      if (std::find(names.begin(), names.end(), one.name) == names.end() || !one.On(flag)) continue;
      if (before ? one.tier < extender_->tier : one.tier > extender_->tier)
        out.push_back(absl::StrCat(one.name, " of ", TierText(one.tier)));
    }
    return out;
  }
  const Listed* Find(absl::string_view name) const {
    const auto found =
        std::find_if(listed_.begin(), listed_.end(), [&](const Listed& one) { return one.name == name; });
    return found == listed_.end() ? nullptr : &*found;
  }
  bool StandsBefore(const Listed& other) const {
    return std::pair(extender_->tier, extender_->at) < std::pair(other.tier, other.at);
  }

  // ---- what nobody reads, and what is read otherwise than it looks

  void LookAtArguments() {
    const json::value* const arguments = api::ValueAt(*extender_->plugin, {"arguments"});
    if (arguments == nullptr || !arguments->is_object()) return;
    std::vector<std::string> known = {kUrlPrefix, kTimeout, kIgnorable, kManaged};
    for (std::size_t i = 0; i < kVerbs; ++i) known.push_back(VerbKey(static_cast<Verb>(i)));
    for (const auto& member : arguments->get_object()) {
      const std::string key(AbslView(member.key()));
      if (std::find(known.begin(), known.end(), key) == known.end()) {
        const std::string near = Nearest(key, known);
        Tell("D-EXTENDER-ARGUMENT", PathOf(key), absl::StrCat("nobody reads the argument ", key),
             near.empty() ? "leave it out" : absl::StrCat("write ", near));
        continue;
      }
      LookAtType(key, member.value());
    }
  }

  void LookAtType(const std::string& key, const json::value& value) {
    if (key == kManaged) {
      const bool names = value.is_array() && std::all_of(value.get_array().begin(), value.get_array().end(),
                                                         [](const json::value& one) { return one.is_string(); });
      if (!names)
        Tell("D-EXTENDER-ARGUMENT", PathOf(key),
             absl::StrCat(key, " is no list of names: the scheduler's process ends"),
             "write a list, such as [nvidia.com/gpu]");
    } else if (key == kIgnorable) {
      static constexpr std::array<absl::string_view, 12> kBools = {"1", "t", "T", "true",  "TRUE",  "True",
                                                                   "0", "f", "F", "false", "FALSE", "False"};
      const bool fits =
          value.is_bool() ||
          (value.is_string() && std::find(kBools.begin(), kBools.end(), AbslView(value.get_string())) != kBools.end());
      if (!fits)
        Tell("D-EXTENDER-ARGUMENT", PathOf(key), absl::StrCat(key, " is neither true nor false: it counts as false"),
             "write true or false");
    } else if (!value.is_string()) {
      Tell("D-EXTENDER-ARGUMENT", PathOf(key), absl::StrCat(key, " is no text: it counts as absent"),
           key == kTimeout ? "write a text such as 1s" : "write it as text, in quotes");
    } else if (key == kTimeout && !api::ParseGoDuration(AbslView(value.get_string())).ok()) {
      Tell("D-EXTENDER-ARGUMENT", PathOf(key), absl::StrCat(key, " is no duration: it counts as 1s"),
           "write one such as 1s or 500ms");
    }
  }

  void LookAtUrl() {
    const bool https = absl::StartsWith(out_.url, "https://");
    const bool of_its_pod =
        absl::StartsWith(out_.url, "https://127.") || absl::StartsWith(out_.url, "https://localhost");
    if (absl::StartsWith(out_.url, "http://") || (https && !of_its_pod)) return;  // elsewhere TLS may end before us
    Tell("D-EXTENDER-URL", PathOf(kUrlPrefix),
         out_.url.empty() ? "there is no extender.urlPrefix: every question fails as if nobody were there"
         : https          ? "extender.urlPrefix is https://, and gangway extender answers without TLS: every question "
                            "fails as if nobody were there"
                          : "extender.urlPrefix is no http:// address: every question fails as if nobody were there",
         "write where gangway extender listens, such as extender.urlPrefix: http://127.0.0.1:9444");
  }

  // ---- verbs

  void LookAtVerbs() {
    bool any = false;
    for (std::size_t i = 0; i < kVerbs; ++i) {
      const auto verb = static_cast<Verb>(i);
      if (!Configured(verb)) continue;
      any = true;
      const std::string key = VerbKey(verb), path = absl::StrCat("/", Text(key));
      const std::optional<Verb> answered = VerbOfPath(path);
      if (answered == verb) continue;
      Tell("D-EXTENDER-VERB", PathOf(key),
           answered.has_value()
               ? absl::StrCat(key, " names ", VerbName(*answered), ": the answer is that of another question")
               : absl::StrCat(key, " names no verb of gangway extender: each question fails with 404"),
           absl::StrCat("write ", key, ": ", VerbName(verb)));
    }
    if (!any)
      Tell("D-EXTENDER-VERB", extender_->path, "no verb is named: the extender is never asked",
           "name at least extender.jobEnqueueableVerb and extender.jobReadyVerb (docs/extender.md)");
    for (const Gate& gate : kGates) {
      if (!Configured(gate.verb) || Asked(gate.verb)) continue;
      const bool action = extender_->On(gate.flag);
      Tell("D-EXTENDER-VERB", PathOf(VerbKey(gate.verb)),
           absl::StrCat(
               VerbName(gate.verb), " is never asked: ",
               action ? absl::StrCat("there is no action ", gate.action) : absl::StrCat(gate.flag, " is false")),
           action ? absl::StrCat("add ", gate.action, " to actions, or leave the verb out")
                  : absl::StrCat("leave out ", gate.flag, " of the extender, or the verb"));
    }
    if (asked_.mode != Mode::kLight && NeedsSession() && !Configured(Verb::kOnSessionOpen))
      Tell("D-EXTENDER-VERB", extender_->path,
           "the verbs of steer and full are answered by the plan of a session, and no session is sent: every answer is "
           "that of nobody",
           "add extender.onSessionOpenVerb: onSessionOpen and extender.onSessionCloseVerb: onSessionClose");
  }
  // Whether anything is asked that only modes with a session answer.
  bool NeedsSession() const {
    if (asked_.mode.has_value()) return *asked_.mode != Mode::kLight;
    for (std::size_t i = 0; i < kVerbs; ++i) {
      const auto verb = static_cast<Verb>(i);
      if (!IsOfSession(verb) && !Serves(Mode::kLight, verb) && Asked(verb)) return true;
    }
    return false;
  }
  static bool IsOfSession(Verb verb) { return verb == Verb::kOnSessionOpen || verb == Verb::kOnSessionClose; }

  // ---- tiers

  void LookAtTiers() {
    if (Asked(Verb::kJobEnqueueable)) {
      const std::vector<std::string> before = InTiers(kLetIn, "enableJobEnqueued", true);
      if (!before.empty())
        Tell("D-EXTENDER-TIER", extender_->path,
             absl::StrCat("the extender stands in ", TierText(extender_->tier), ", behind ",
                          absl::StrJoin(before, ", "), ": whom they let in is let in, and jobEnqueueable is not asked"),
             "move the extender into their tier, or an earlier one");
    }
    for (const auto& [verb, flag] :
         {std::pair(Verb::kPreemptable, "enablePreemptable"), std::pair(Verb::kReclaimable, "enableReclaimable")}) {
      if (!Asked(verb)) continue;
      const std::vector<std::string> before = InTiers(kEvict, flag, true);
      if (!before.empty())
        Tell(
            "D-EXTENDER-TIER", extender_->path,
            absl::StrCat("the extender stands in ", TierText(extender_->tier), ", behind ", absl::StrJoin(before, ", "),
                         ": ", VerbName(verb), " is asked only where they allow nobody to be evicted"),
            "move the extender into their tier, behind them");
    }
    const Listed* const gang = Find("gang");
    if (gang == nullptr) {
      Tell("D-EXTENDER-TIER", "tiers",
           "there is no plugin gang: nobody holds gangs whole, which an extender cannot do in its place",
           "list gang before the extender");
    } else if (Asked(Verb::kJobReady) && StandsBefore(*gang)) {
      Tell("D-EXTENDER-TIER", extender_->path,
           "the extender stands before gang: jobReady is asked after every pod that is placed, not only of gangs that "
           "have their minimum",
           "move it behind gang");
    }
    const Listed* const predicates = Find("predicates");
    if (predicates != nullptr && Asked(Verb::kPredicate) && StandsBefore(*predicates))
      Tell("D-EXTENDER-TIER", extender_->path,
           "the extender stands before predicates: it is asked of nodes, too, that predicates refuses for nothing",
           "move it behind predicates");
  }

  // ---- when nobody answers

  void LookAtFailure() {
    if (ignorable()) {
      if (Asked(Verb::kJobReady))
        Tell("D-EXTENDER-DOWN", PathOf(kIgnorable),
             "with extender.ignorable true a jobReady that fails means not ready: while we are down no gang is bound",
             "leave out extender.jobReadyVerb, or write extender.ignorable: false");
      const std::vector<std::string> hidden = InTiers(kLetIn, "enableJobEnqueued", false);
      if (Asked(Verb::kJobEnqueueable) && !hidden.empty() && !Asked(Verb::kPreemptable) && !Asked(Verb::kReclaimable))
        Tell("D-EXTENDER-DOWN", PathOf(kIgnorable),
             absl::StrCat(
                 "with extender.ignorable true a jobEnqueueable that fails lets the gang in: while we are down ",
                 absl::StrJoin(hidden, ", "), " are not asked"),
             "move the extender into their tier, behind them");
      return;
    }
    std::vector<std::string> leads;
    if (Asked(Verb::kPredicate)) leads.emplace_back("no pod fits anywhere (predicate)");
    if (Asked(Verb::kPrioritize)) leads.emplace_back("pods are skipped without a word (prioritize)");
    if (Asked(Verb::kPrioritize) && Acts("backfill"))
      leads.emplace_back("a pod that asks for nothing ends the scheduler's process (prioritize, in backfill)");
    if (Asked(Verb::kQueueOverused)) leads.emplace_back("every queue is skipped (queueOverused)");
    if (Asked(Verb::kAllocateFunc)) leads.emplace_back("each placement is taken back (allocateFunc)");
    if (leads.empty()) return;
    Tell("D-EXTENDER-DOWN", PathOf(kIgnorable),
         absl::StrCat("extender.ignorable is false: once we are down in the middle of a session, ",
                      absl::StrJoin(leads, "; ")),
         Asked(Verb::kJobReady) ? "write extender.ignorable: true, and leave out extender.jobReadyVerb"
                                : "write extender.ignorable: true");
  }

  void LookAtTimeout() {
    absl::Duration timeout = kUsualTimeout;
    if (const auto read = api::ParseGoDuration(Text(kTimeout)); read.ok()) timeout = *read;
    if (timeout <= absl::ZeroDuration()) {
      Tell("D-EXTENDER-TIMEOUT", PathOf(kTimeout),
           "extender.httpTimeout is not positive, and so none: a question that is never answered stops the scheduler",
           "write extender.httpTimeout: 1s");
    } else if (timeout > kLongTimeout) {
      Tell("D-EXTENDER-TIMEOUT", PathOf(kTimeout),
           absl::StrCat("extender.httpTimeout is ", api::FormatGoDuration(timeout),
                        ": each question may hold up the whole scheduler so long"),
           "write extender.httpTimeout: 1s, or little more");
    } else if (timeout <= asked_.budget) {
      LookAtBudget(timeout);
    }
  }
  // What waits for a plan, and no longer than the budget: an opening; in mode light, which has none, each verb of it.
  void LookAtBudget(absl::Duration timeout) {
    const std::string is_given_up = absl::StrCat("extender.httpTimeout is ", api::FormatGoDuration(timeout), ", and ");
    const std::string budget = absl::StrCat(api::FormatGoDuration(asked_.budget), " (--http-budget)");
    const char* const remedy =
        "write a longer extender.httpTimeout, or start gangway extender with a shorter --http-budget";
    if (NeedsSession()) {
      if (Configured(Verb::kOnSessionOpen))
        Tell(
            "D-EXTENDER-TIMEOUT", PathOf(kTimeout),
            absl::StrCat(is_given_up, "an opening is answered after ", budget, " at the latest: it is given up before"),
            remedy);
      return;
    }
    std::vector<std::string> asked, leads;
    if (Asked(Verb::kJobEnqueueable)) {
      asked.emplace_back("jobEnqueueable");
      leads.emplace_back(ignorable() ? "every gang is let in" : "no gang is let in");
    }
    if (Asked(Verb::kJobReady)) {
      asked.emplace_back("jobReady");
      leads.emplace_back(ignorable() ? "no gang is bound" : "gangs start on nodes that are kept for others");
    }
    if (asked.empty()) return;
    Tell("D-EXTENDER-TIMEOUT", PathOf(kTimeout),
         absl::StrCat(is_given_up, absl::StrJoin(asked, " and "), " may wait ", budget,
                      " for a plan: where one takes longer than the timeout, ", absl::StrJoin(leads, ", and ")),
         remedy);
  }

  // ---- what costs more than it gives

  void LookAtCost() {
    if (Configured(Verb::kOnSessionOpen) && !NeedsSession())
      Tell("D-EXTENDER-COST", PathOf(VerbKey(Verb::kOnSessionOpen)),
           asked_.mode == Mode::kLight
               ? "onSessionOpen sends the whole cluster once a session, and mode light has its own watch: nobody looks "
                 "at it"
               : "onSessionOpen sends the whole cluster once a session for jobEnqueueable and jobReady alone",
           "leave out extender.onSessionOpenVerb and extender.onSessionCloseVerb; with --mode light the cluster comes "
           "by our own watch");
    for (const auto& [verb, why] :
         {std::pair(Verb::kJobEnqueued, "a call for each gang that is let in, which decides nothing"),
          std::pair(Verb::kAllocateFunc,
                    "a call for each pod that is placed, which decides nothing: it is counted in "
                    "/debug/sessions"),
          std::pair(Verb::kDeallocateFunc,
                    "a call for each placement that is taken back, which decides nothing: it is "
                    "counted in /debug/sessions")}) {
      if (Asked(verb))
        Tell("D-EXTENDER-COST", PathOf(VerbKey(verb)), absl::StrCat(VerbName(verb), " is ", why),
             absl::StrCat("leave out ", VerbKey(verb)));
    }
    if (!asked_.mode.has_value()) return;
    for (std::size_t i = 0; i < kVerbs; ++i) {
      const auto verb = static_cast<Verb>(i);
      if (IsOfSession(verb) || verb == Verb::kAllocateFunc || verb == Verb::kDeallocateFunc) continue;
      if (Serves(*asked_.mode, verb) || !Asked(verb)) continue;
      const absl::string_view mode = kModeNames[static_cast<std::size_t>(*asked_.mode)];
      Tell("D-EXTENDER-COST", PathOf(VerbKey(verb)),
           absl::StrCat(VerbName(verb), " is asked, and --mode ", mode, " answers it as if nobody were there"),
           absl::StrCat("leave out ", VerbKey(verb), ", or start gangway extender with --mode ",
                        Serves(Mode::kSteer, verb) ? "steer" : "full"));
    }
  }

  const api::ManifestDocument& document_;
  const AskedExtender asked_;
  std::vector<std::string> actions_;
  std::vector<Listed> listed_;  // in the order of the file
  const Listed* extender_ = nullptr;
  ExtenderPlace out_;
};

}  // namespace

absl::StatusOr<ExtenderPlace> FindExtenderPlace(absl::string_view text, absl::string_view source,
                                                const AskedExtender& asked) {
  GW_RETURN_IF_ERROR(conf::ReadSchedulerConf(text, source).status());
  GW_ASSIGN_OR_RETURN(const api::ManifestDocument document, conf::ReadConfDocument(text, source));
  GW_ASSIGN_OR_RETURN(const json::value root, api::ParseJson(document.json));
  return PlaceReader(document, root, asked).Read();
}

}  // namespace gangway::extender
