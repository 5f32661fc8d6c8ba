#include "cmd/doctor/sight.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "api/field_table.h"
#include "api/json_path.h"
#include "api/schemas/table.h"
#include "base/strings.h"

namespace gangway::cmd {
namespace {

namespace json = boost::json;
using api::ListAt;
using api::TextAt;
using api::ValueAt;

bool HasEnded(absl::string_view phase) {
  return phase == "Completed" || phase == "Succeeded" || phase == "Failed" || phase == "Terminated" ||
         phase == "Aborted";
}
bool IsGoing(const json::value& object) { return ValueAt(object, {"metadata", "deletionTimestamp"}) != nullptr; }

}  // namespace

std::string NameOf(const json::value& object) { return TextAt(object, {"metadata", "name"}); }
std::string NamespaceOf(const json::value& object) { return TextAt(object, {"metadata", "namespace"}); }
std::string KeyOf(const json::value& object) { return absl::StrCat(NamespaceOf(object), "/", NameOf(object)); }
std::string UidOf(const json::value& object) { return TextAt(object, {"metadata", "uid"}); }

const json::value* ControllerOf(const json::value& object) {
  for (const json::value& owner : ListAt(object, {"metadata", "ownerReferences"})) {
    const json::value* const controls = ValueAt(owner, {"controller"});
    if (controls != nullptr && controls->is_bool() && controls->get_bool()) return &owner;
  }
  return nullptr;
}

const json::value* FindByKey(const Objects& objects, absl::string_view key) {
  const auto found =
      std::find_if(objects.begin(), objects.end(), [&](const json::value& object) { return KeyOf(object) == key; });
  return found == objects.end() ? nullptr : &*found;
}

absl::Duration Since(const std::string& time, absl::Time now) {
  const absl::StatusOr<absl::Time> at = api::ParseTime(time);
  return at.ok() ? now - *at : absl::ZeroDuration();
}
absl::Duration AgeOf(const json::value& object, absl::Time now) {
  return Since(TextAt(object, {"metadata", "creationTimestamp"}), now);
}
std::string AgeText(absl::Duration age) { return schemas::HumanDuration(age); }

std::string PhaseOf(const json::value& job) { return TextAt(job, {"status", "state", "phase"}); }
bool IsUnfinishedJob(const json::value& job) { return !IsGoing(job) && !HasEnded(PhaseOf(job)); }
bool IsUnfinishedPaddleJob(const json::value& job) {
  return !IsGoing(job) && !HasEnded(TextAt(job, {"status", "phase"}));
}
bool IsUnfinishedKubeflowJob(const json::value& job) {
  const json::array& conditions = ListAt(job, {"status", "conditions"});
  return !IsGoing(job) && std::none_of(conditions.begin(), conditions.end(), [](const json::value& one) {
    return HasEnded(TextAt(one, {"type"})) && TextAt(one, {"status"}) == "True";
  });
}

bool HasImage(const json::value& deployment, absl::string_view image) { return !LineOf(deployment, image).empty(); }

std::string LineOf(const json::value& deployment, absl::string_view image) {
  for (const json::value& container : ListAt(deployment, {"spec", "template", "spec", "containers"})) {
    if (!absl::StrContains(TextAt(container, {"image"}), image)) continue;
    std::string line = absl::StrCat(TextAt(container, {"image"}), " ");
    for (const char* const list : {"command", "args"}) {
      for (const json::value& word : ListAt(container, {list})) {
        if (word.is_string()) absl::StrAppend(&line, View(word.get_string()), " ");
      }
    }
    return line;
  }
  return "";
}

std::string FlagIn(absl::string_view line, absl::string_view flag) {
  for (const char* const sign : {"=", " "}) {
    const std::string given = absl::StrCat(" ", flag, sign);
    const std::size_t at = line.find(given);
    if (at == absl::string_view::npos) continue;
    const absl::string_view rest = line.substr(at + given.size());
    return std::string(rest.substr(0, rest.find(' ')));
  }
  return "";
}

std::string Word(absl::string_view name) {
  const auto is_plain = [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '.' || c == '_' || c == '/' ||
           c == ':';
  };
  if (!name.empty() && name.front() != '-' && std::all_of(name.begin(), name.end(), is_plain)) return std::string(name);
  return absl::StrCat("'", absl::StrReplaceAll(name, {{"'", R"('\'')"}}), "'");
}

}  // namespace gangway::cmd
