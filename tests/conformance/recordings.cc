#include "tests/conformance/recordings.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "api/json_value.h"
#include "api/manifest/manifest.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "tests/conformance/text.h"
#include "tests/testing/files.h"

namespace gangway::testutil {
namespace {

namespace json = boost::json;

constexpr std::size_t kShown = 300;  // bytes of a value in a difference
constexpr std::size_t kAtMost = 40;  // differences of a case

class Comparison {
 public:
  Comparison(const std::string& name, const std::vector<LeftOut>& left_out, std::set<std::string>& used) : used_(used) {
    for (const LeftOut& rule : left_out) {
      if (rule.cases.empty() || std::count(rule.cases.begin(), rule.cases.end(), name) != 0)
        rules_.emplace_back(&rule, absl::StrSplit(rule.at, '/'));
    }
  }

  void Visit(const json::value* recorded, const json::value* seen) {
    if (recorded != nullptr && seen != nullptr && Equal(*recorded, *seen)) return;
    if (IsLeftOut()) return;
    if (recorded != nullptr && seen != nullptr && recorded->is_object() && seen->is_object())
      return Members(recorded->get_object(), seen->get_object());
    if (recorded != nullptr && seen != nullptr && recorded->is_array() && seen->is_array())
      return Elements(recorded->get_array(), seen->get_array());
    out_.push_back(absl::StrCat(absl::StrJoin(path_, "/"), ": recorded ", Shown(recorded), ", is ", Shown(seen)));
  }

  std::string Told() const {
    const auto end = out_.begin() + static_cast<std::ptrdiff_t>(std::min(out_.size(), kAtMost));
    return absl::StrCat(absl::StrJoin(out_.begin(), end, "\n"),
                        out_.size() > kAtMost ? absl::StrCat("\nand ", out_.size() - kAtMost, " more") : "");
  }

 private:
  static bool Equal(const json::value& a, const json::value& b) {
    return a == b || (a.is_number() && b.is_number() && a.to_number<double>() == b.to_number<double>());
  }
  static std::string Shown(const json::value* value) {
    if (value == nullptr) return "absent";
    const std::string text = api::ToJson(*value);
    return text.size() <= kShown ? text : absl::StrCat(text.substr(0, kShown), "...");
  }

  // Whether the rule is of this place: as many words, but for one that begins with `**`.
  static bool IsAt(const std::vector<std::string>& words, const std::vector<std::string>& at) {
    const bool anywhere = words.front() == "**";
    const std::size_t count = words.size() - (anywhere ? 1 : 0);
    if (at.size() < count || (!anywhere && at.size() != count)) return false;
    return std::equal(words.end() - static_cast<std::ptrdiff_t>(count), words.end(),
                      at.end() - static_cast<std::ptrdiff_t>(count),
                      [](const std::string& word, const std::string& each) { return word == "*" || word == each; });
  }

  // The first word of the path is the step.
  bool IsLeftOut() {
    if (path_.empty()) return false;
    bool out = false;
    for (const auto& [rule, words] : rules_) {
      if (!IsAt(words, {path_.begin() + 1, path_.end()})) continue;
      used_.insert(rule->where);
      out = true;
    }
    return out;
  }

  void Members(const json::object& recorded, const json::object& seen) {
    std::set<std::string> keys;
    for (const json::object* const each : {&recorded, &seen}) {
      for (const json::key_value_pair& member : *each) keys.insert(ToText(member.key()));
    }
    for (const std::string& key : keys) {
      path_.push_back(key);
      Visit(recorded.if_contains(key), seen.if_contains(key));
      path_.pop_back();
    }
  }

  void Elements(const json::array& recorded, const json::array& seen) {
    for (std::size_t i = 0; i < std::max(recorded.size(), seen.size()); ++i) {
      path_.push_back(absl::StrCat(i));
      Visit(i < recorded.size() ? &recorded[i] : nullptr, i < seen.size() ? &seen[i] : nullptr);
      path_.pop_back();
    }
  }

  std::vector<std::pair<const LeftOut*, std::vector<std::string>>> rules_;
  std::set<std::string>& used_;
  std::vector<std::string> path_, out_;
};

}  // namespace

std::string Compare(const json::array& recorded, const json::array& seen, const std::string& name,
                    const std::vector<LeftOut>& left_out, std::set<std::string>& used) {
  Comparison comparison(name, left_out, used);
  const json::value a(recorded), b(seen);
  comparison.Visit(&a, &b);
  return comparison.Told();
}

absl::StatusOr<std::vector<LeftOut>> LoadLeftOut(const std::string& file) {
  GW_ASSIGN_OR_RETURN(const auto documents, api::ReadDocuments(ReadFile(file), "left_out.yaml"));
  std::vector<LeftOut> out;
  for (const api::ManifestDocument& document : documents) {
    GW_ASSIGN_OR_RETURN(const json::value list, api::ParseJson(document.json));
    if (!list.is_array()) return absl::InvalidArgumentError("left_out.yaml: is a list of rules");
    for (std::size_t i = 0; i < list.get_array().size(); ++i) {
      LeftOut rule;
      rule.where = document.Where(absl::StrCat("[", i, "]"));
      const json::object* const fields = list.get_array()[i].if_object();
      const auto text = [&](const char* key) {
        const json::value* const value = fields == nullptr ? nullptr : fields->if_contains(key);
        return value != nullptr && value->is_string() ? ToText(value->get_string()) : "";
      };
      rule.at = text("at");
      rule.because = text("because");
      if (rule.at.empty() || rule.because.empty())
        return absl::InvalidArgumentError(absl::StrCat(rule.where, ": a rule says at and because"));
      if (const json::value* const unsteady = fields->if_contains("unsteady");
          unsteady != nullptr && unsteady->is_bool())
        rule.unsteady = unsteady->as_bool();
      if (const json::value* const cases = fields->if_contains("cases"); cases != nullptr && cases->is_array()) {
        for (const json::value& each : cases->get_array()) rule.cases.push_back(ToText(each.as_string()));
      }
      out.push_back(std::move(rule));
    }
  }
  return out;
}

Recordings::File& Recordings::Load(const std::string& file) {
  const auto [it, fresh] = files_.try_emplace(file);
  if (!fresh) return it->second;
  const std::string text = ReadFile(PathOf(file));
  if (text.empty()) return it->second;
  const absl::StatusOr<json::value> parsed = api::ParseJson(text);
  GW_CHECK(parsed.ok());
  for (const json::key_value_pair& each : parsed->as_object()) it->second[ToText(each.key())] = each.value().as_array();
  return it->second;
}

const json::array* Recordings::Find(const Case& c) {
  const std::lock_guard<std::mutex> lock(mu_);
  const File& file = Load(c.file);
  const auto it = file.find(c.name);
  return it == file.end() ? nullptr : &it->second;
}

void Recordings::Keep(const Case& c, json::array seen) {
  const std::lock_guard<std::mutex> lock(mu_);
  Load(c.file)[c.name] = std::move(seen);
  changed_.insert(c.file);
}

// A line for each answer, so that a change is read in review.
void Recordings::Write(const std::vector<Case>& all) {
  const std::lock_guard<std::mutex> lock(mu_);
  for (const std::string& name : changed_) {
    File& file = files_[name];
    std::erase_if(file, [&](const auto& entry) {
      return std::none_of(all.begin(), all.end(),
                          [&](const Case& c) { return c.file == name && c.name == entry.first; });
    });
    const auto answers = [](std::string* out, const json::value& answer) {
      absl::StrAppend(out, "  ", api::ToJson(answer));
    };
    const auto entry = [&](std::string* out, const auto& each) {
      absl::StrAppend(out, "\"", each.first, "\": [\n", absl::StrJoin(each.second, ",\n", answers), "\n]");
    };
    WriteFile(PathOf(name), absl::StrCat("{\n", absl::StrJoin(file, ",\n", entry), "\n}\n"));
  }
}

}  // namespace gangway::testutil
