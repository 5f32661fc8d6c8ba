#include "translator/convert/annotations.h"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "api/duration.h"
#include "api/json.h"
#include "base/nearest.h"
#include "base/strings.h"
#include "translator/convert/options.h"

namespace gangway::convert {
namespace {

constexpr std::int32_t kMaxInt = std::numeric_limits<std::int32_t>::max();

// Digits alone, with a '-' before them where `least` allows it.
bool ReadInt(absl::string_view text, std::int32_t least, std::int32_t most, std::int32_t& out) {
  const absl::string_view digits = absl::StripPrefix(text, "-");
  const bool plain = !digits.empty() && std::all_of(digits.begin(), digits.end(), [](char c) {
    return absl::ascii_isdigit(static_cast<unsigned char>(c));
  });
  std::int32_t value = 0;
  if (!plain || !absl::SimpleAtoi(text, &value) || value < least || value > most) return false;
  out = value;
  return true;
}

// "90" seconds, or "1m30s".
bool ReadDuration(absl::string_view text, absl::Duration& out) {
  if (std::int32_t seconds = 0; ReadInt(text, 0, kMaxInt, seconds)) {
    out = absl::Seconds(seconds);
    return true;
  }
  const absl::StatusOr<absl::Duration> parsed = api::ParseGoDuration(text);
  if (!parsed.ok() || *parsed < absl::ZeroDuration()) return false;
  out = *parsed;
  return true;
}

bool ReadSwitch(absl::string_view text, bool& out) {
  const bool on = text == "on" || text == "true", off = text == "off" || text == "false";
  if (on || off) out = on;
  return on || off;
}

// One of two words; the first is what is so without the annotation, and with any other.
bool ReadChoice(absl::string_view text, absl::string_view usual, absl::string_view other, bool& out) {
  out = text == other;
  return text == usual || text == other;
}

bool ReadTtl(absl::string_view text, Annotations& out) {
  absl::Duration ttl;
  if (!ReadDuration(text, ttl) || ttl > absl::Seconds(kMaxInt) || ttl % absl::Seconds(1) != absl::ZeroDuration())
    return false;
  out.ttl_seconds = static_cast<std::int32_t>(absl::ToInt64Seconds(ttl));
  return true;
}

bool HasBlank(absl::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == '\x7f'; });
}

bool ReadWaitDns(absl::string_view text, Annotations& out) {
  if (ReadSwitch(text, out.wait_dns)) return true;
  if (text.empty() || HasBlank(text)) return false;
  out.wait_dns_image = std::string(text);
  return true;
}

bool ReadManager(absl::string_view text, Annotations& out) {
  if (text.empty() || HasBlank(text)) return false;
  out.managed_by = std::string(text);
  return true;
}

bool ReadEtcd(absl::string_view text, Annotations& out) {
  if (!IsEtcdAddress(text)) return false;
  out.elastic_etcd = std::string(text);
  return true;
}

struct Wish {
  std::string_view name;
  std::string_view rule;    // what may stand there
  std::string_view values;  // the words among these, for a near one
  bool (*read)(absl::string_view text, Annotations& out);
};

constexpr std::string_view kSwitchRule = "must be on or off", kSwitchValues = "on,off,true,false";

// Ports of the three roles' blocks come after the base.
constexpr std::int32_t kLastHostPortBase = 65535 - 59;

constexpr std::array kWishes{
    Wish{"max-restarts", "must be a number from 0 to 2147483646", "",
         [](absl::string_view text, Annotations& out) {
           const bool read = ReadInt(text, 0, kMaxInt - 1, out.max_restarts);
           out.max_restarts_given = out.max_restarts_given || read;
           return read;
         }},
    Wish{"container-restarts", "must be a number, at least 0, or -1 for as often as it takes", "",
         [](absl::string_view text, Annotations& out) {
           std::int32_t restarts = 0;
           const bool read = ReadInt(text, -1, kMaxInt, restarts);
           if (read) out.container_restarts = restarts;
           return read;
         }},
    Wish{"server-grace", "must be seconds or a duration like 10s or 1m30s, not negative", "",
         [](absl::string_view text, Annotations& out) {
           const bool read = ReadDuration(text, out.server_grace);
           out.server_grace_given = out.server_grace_given || read;
           return read;
         }},
    Wish{"wait-dns", "must be on, off, or the name of an image", kSwitchValues, ReadWaitDns},
    Wish{"host-port-base", "must be a port from 1 to 65476", "",
         [](absl::string_view text, Annotations& out) {
           std::int32_t port = 0;
           const bool read = ReadInt(text, 1, kLastHostPortBase, port);
           if (read) out.host_port_base = port;
           return read;
         }},
    Wish{"elastic-etcd", "must be the host and port of an etcd, like etcd.infra:2379", "", ReadEtcd},
    Wish{"elastic-style", "must be launcher or legacy", "launcher,legacy",
         [](absl::string_view text, Annotations& out) {
           return ReadChoice(text, "launcher", "legacy", out.elastic_legacy);
         }},
    Wish{"per-pod-services", kSwitchRule, kSwitchValues,
         [](absl::string_view text, Annotations& out) { return ReadSwitch(text, out.per_pod_services); }},
    Wish{"network-policy", kSwitchRule, kSwitchValues,
         [](absl::string_view text, Annotations& out) { return ReadSwitch(text, out.network_policy); }},
    Wish{"name-style", "must be short or absolute", "short,absolute",
         [](absl::string_view text, Annotations& out) {
           return ReadChoice(text, "short", "absolute", out.absolute_names);
         }},
    Wish{"scale", "must be allow or forbid", "allow,forbid",
         [](absl::string_view text, Annotations& out) {
           return ReadChoice(text, "allow", "forbid", out.scale_forbidden);
         }},
    Wish{"backend", "must be job: pods always belong to a Volcano Job", "job",
         [](absl::string_view text, Annotations&) { return text == "job"; }},
    Wish{"ttl", "must be whole seconds or a duration like 1h30m, not negative", "", ReadTtl},
    Wish{"managed-by", "must be gangway, or the name of another controller, to which the job is then left", "gangway",
         ReadManager},
    Wish{"strict-roles", kSwitchRule, kSwitchValues,
         [](absl::string_view text, Annotations& out) { return ReadSwitch(text, out.strict_roles); }},
    Wish{"task-index", "must be from-label or from-name", "from-label,from-name",
         [](absl::string_view text, Annotations& out) {
           return ReadChoice(text, "from-label", "from-name", out.wrap_command);
         }},
    Wish{
        "scheduler", "must be volcano or any", "volcano,any",
        [](absl::string_view text, Annotations& out) { return ReadChoice(text, "volcano", "any", out.any_scheduler); }},
    Wish{"run-entry", kSwitchRule, kSwitchValues,
         [](absl::string_view text, Annotations& out) { return ReadSwitch(text, out.run_entry); }},
    Wish{"endpoints", "must be names", "names,ip",
         [](absl::string_view text, Annotations&) { return text == "names"; }},
};

std::string DidYouMean(const std::string& nearest, absl::string_view otherwise) {
  return nearest.empty() ? std::string(otherwise) : absl::StrCat("did you mean ", nearest, "?");
}

Finding UnknownName(absl::string_view name, bool strict) {
  return MakeFinding(strict ? Code::kUnknown : Code::kUnknownField, AnnotationField(name), {},
                     "there is no such annotation", DidYouMean(Nearest(name, AnnotationNames()), "remove it"));
}

Finding NoValue(const Wish& wish, absl::string_view text, bool strict) {
  const std::string field = AnnotationField(View(wish.name)), value = api::JsonString(text);
  if (wish.name == "endpoints" && text == "ip") return MakeFinding(Code::kIp, field, value);
  const std::vector<std::string> known = absl::StrSplit(View(wish.values), ',', absl::SkipEmpty());
  return MakeFinding(strict ? Code::kEnum : Code::kEnumIgnored, field, value, View(wish.rule),
                     DidYouMean(Nearest(text, known), "until then it is as if it were not written"));
}

}  // namespace

std::vector<std::string> AnnotationNames() {
  std::vector<std::string> names;
  for (const Wish& wish : kWishes) names.emplace_back(wish.name);
  return names;
}

std::string AnnotationField(absl::string_view name) {
  return absl::StrCat("metadata.annotations[", View(kAnnotationPrefix), name, "]");
}

Annotations ReadAnnotations(const std::map<std::string, std::string>& all, bool strict, Findings& findings) {
  Annotations out;
  for (const auto& [key, text] : all) {
    absl::string_view name = key;
    if (!absl::ConsumePrefix(&name, View(kAnnotationPrefix))) continue;
    const auto wish = std::find_if(kWishes.begin(), kWishes.end(), [&](const Wish& w) { return View(w.name) == name; });
    if (wish == kWishes.end()) {
      findings.push_back(UnknownName(name, strict));
    } else if (!wish->read(text, out)) {
      findings.push_back(NoValue(*wish, text, strict));
    }
  }
  return out;
}

}  // namespace gangway::convert
