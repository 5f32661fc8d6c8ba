// Volcano's scheduler configuration, and the place of its extender plugin in it.
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/duration.h"
#include "api/json_path.h"
#include "cmd/doctor/checks.h"
#include "plugin/conf/scheduler_conf.h"
#include "plugin/extender/verbs/extender_place.h"

namespace gangway::cmd {
namespace {

namespace json = boost::json;
using api::ListAt;
using api::TextAt;

constexpr char kSchedulerImage[] = "vc-scheduler", kOurImage[] = "gangway";
constexpr char kConfAilment[] = "D-SCHEDULER-CONF", kUnasked[] = "D-EXTENDER-NONE", kNobodyThere[] = "D-EXTENDER-URL";
constexpr char kWays[] = "add the plugin extender as docs/extender.md shows for light, steer or full";

// A configuration, and how its ailments are told.
struct Conf {
  absl::string_view text;
  std::string source;                       // before the line
  std::string mend;                         // how it is changed; "": it is a file
  const json::value* deployment = nullptr;  // the scheduler's; nullptr: it is not seen
};

std::string Remedy(const Conf& conf, absl::string_view what) {
  return conf.mend.empty() ? std::string(what) : absl::StrCat(what, ": ", conf.mend);
}

// Our extender in the scheduler's own pod; nullopt: there is none.
std::optional<std::string> OurExtender(const json::value* deployment) {
  if (deployment == nullptr) return std::nullopt;
  std::string line = LineOf(*deployment, kOurImage);
  if (!absl::StrContains(line, "--http-listen")) return std::nullopt;
  return line;
}

extender::AskedExtender AskedBy(const std::string& line) {
  extender::AskedExtender asked;
  const std::string mode = FlagIn(line, "--mode");
  asked.mode = extender::ModeOf(mode.empty() ? "light" : mode);
  if (const auto budget = api::ParseGoDuration(FlagIn(line, "--http-budget")); budget.ok()) asked.budget = *budget;
  return asked;
}

bool IsOfItsOwnPod(absl::string_view url) {
  const std::size_t at = url.find("://");
  const absl::string_view host = at == absl::string_view::npos ? url : url.substr(at + 3);
  return absl::StartsWith(host, "127.") || absl::StartsWith(host, "localhost") || absl::StartsWith(host, "[::1]");
}

absl::Status LookInto(const Conf& conf, bool wanted, Ailments& out) {
  const absl::StatusOr<conf::SchedulerConf> read = conf::ReadSchedulerConf(conf.text, conf.source);
  if (!read.ok()) return read.status();
  for (const conf::Note& note : read->notes) {
    if (note.kind == conf::Note::Kind::kMistake)
      out.push_back({kConfAilment, absl::StrCat(conf.source, ":", note.line),
                     absl::StrCat(note.subject, ": ", note.text), Remedy(conf, "mend the line, or leave it out")});
  }
  const std::optional<std::string> ours = OurExtender(conf.deployment);
  const absl::StatusOr<extender::ExtenderPlace> place = extender::FindExtenderPlace(
      conf.text, conf.source, ours.has_value() ? AskedBy(*ours) : extender::AskedExtender());
  if (!place.ok()) return place.status();
  if (!place->listed && (wanted || ours.has_value())) {
    out.push_back({kUnasked, conf.source,
                   ours.has_value()
                       ? "there is no plugin extender, though gangway extender runs in the scheduler's pod: "
                         "nobody asks it"
                       : "there is no plugin extender: nobody outside of the scheduler is asked",
                   Remedy(conf, kWays)});
  }
  if (place->listed && conf.deployment != nullptr && IsOfItsOwnPod(place->url) &&
      ListAt(*conf.deployment, {"spec", "template", "spec", "containers"}).size() == 1) {
    out.push_back({kNobodyThere, conf.source,
                   absl::StrCat("extender.urlPrefix is ", place->url,
                                ", and there is no second container in the scheduler's pod: nobody answers"),
                   "lay deploy/volcano/components/volcano-extender over Volcano's manifests (docs/extender.md), or "
                   "leave the plugin "
                   "out"});
  }
  for (const extender::PlaceFault& fault : place->faults)
    out.push_back({fault.code, absl::StrCat(conf.source, ":", fault.line), fault.what, Remedy(conf, fault.remedy)});
  return absl::OkStatus();
}

}  // namespace

std::vector<MountedConf> SchedulerConfMounts(const ClusterSight& sight) {
  std::vector<MountedConf> out;
  for (const json::value& deployment : sight.deployments) {
    if (!HasImage(deployment, kSchedulerImage)) continue;
    for (const json::value& volume : ListAt(deployment, {"spec", "template", "spec", "volumes"})) {
      const std::string name = TextAt(volume, {"configMap", "name"});
      if (name.empty()) continue;
      out.push_back({KeyOf(deployment), absl::StrCat(NamespaceOf(deployment), "/", name)});
    }
  }
  return out;
}

Ailments ExtendersOutOfPlace(const ClusterSight& sight) {
  Ailments out;
  for (const SchedulerConfSeen& seen : sight.scheduler_confs) {
    const std::string ns = seen.config_map.substr(0, seen.config_map.find('/')),
                      name = seen.config_map.substr(ns.size() + 1);
    const Conf conf{seen.text, absl::StrCat("configmap ", seen.config_map, ": ", seen.key),
                    absl::StrCat("kubectl edit configmap ", Word(name), " -n ", Word(ns)),
                    FindByKey(sight.deployments, seen.deployment)};
    if (const absl::Status looked = LookInto(conf, false, out); !looked.ok())
      out.push_back({kConfAilment, absl::StrCat("configmap ", seen.config_map),
                     absl::StrCat(looked.message(), ": Volcano goes on with what it read before, or its own defaults"),
                     conf.mend});
  }
  return out;
}

absl::StatusOr<Ailments> ExamineSchedulerConf(absl::string_view text, absl::string_view source) {
  Ailments out;
  const absl::Status looked = LookInto({text, std::string(source), "", nullptr}, true, out);
  if (!looked.ok()) return looked;
  return out;
}

}  // namespace gangway::cmd
