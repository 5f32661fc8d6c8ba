#include "sandbox/rbac/rule.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "api/json.h"
#include "base/status_macros.h"
#include "sandbox/apiserver/draft/draft.h"

namespace gangway::sandbox::rbac {
namespace {

namespace json = boost::json;

// Of words that are compared for one role: some 20 ms.
constexpr std::size_t kMaxComparisons = 2'000'000;

using Words = std::vector<std::string>;

bool Has(const Words& words, absl::string_view word) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& each) { return each == word; });
}
bool HasOrAll(const Words& words, absl::string_view word) { return Has(words, "*") || Has(words, word); }

// Go: strings.TrimRight(text, "*").
absl::string_view WithoutStars(absl::string_view text) {
  while (absl::EndsWith(text, "*")) text.remove_suffix(1);
  return text;
}

bool UrlCovers(absl::string_view rule, absl::string_view url) {
  return rule == url || (absl::EndsWith(rule, "*") && absl::StartsWith(url, WithoutStars(rule)));
}

bool ResourceCovered(const Words& resources, absl::string_view resource) {
  if (HasOrAll(resources, resource)) return true;
  const std::size_t slash = resource.find('/');
  return slash != absl::string_view::npos && Has(resources, absl::StrCat("*", resource.substr(slash)));
}

// `part` has one verb, and one resource of one group with at most one name, or one URL.
bool Covers(const Rule& held, const Rule& part) {
  if (!HasOrAll(held.verbs, part.verbs[0])) return false;
  if (!part.urls.empty()) {
    return held.names.empty() && std::any_of(held.urls.begin(), held.urls.end(),
                                             [&](const std::string& url) { return UrlCovers(url, part.urls[0]); });
  }
  return HasOrAll(held.groups, part.groups[0]) && ResourceCovered(held.resources, part.resources[0]) &&
         (held.names.empty() || (!part.names.empty() && Has(held.names, part.names[0])));
}

// Calls `visit` with each part of the rule; ends when it returns an error.
template <class Visit>
absl::Status ForEachPart(const Rule& rule, Visit visit) {
  for (const std::string& group : rule.groups) {
    for (const std::string& resource : rule.resources) {
      for (const std::string& verb : rule.verbs) {
        if (rule.names.empty()) GW_RETURN_IF_ERROR(visit(Rule{{verb}, {group}, {resource}, {}, {}}));
        for (const std::string& name : rule.names)
          GW_RETURN_IF_ERROR(visit(Rule{{verb}, {group}, {resource}, {name}, {}}));
      }
    }
  }
  for (const std::string& url : rule.urls) {
    for (const std::string& verb : rule.verbs) GW_RETURN_IF_ERROR(visit(Rule{{verb}, {}, {}, {}, {url}}));
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<Rule> ReadRules(const json::object& role) {
  std::vector<Rule> out;
  const json::array* const rules = FindArray(role, "rules");
  for (std::size_t i = 0; rules != nullptr && i < rules->size(); ++i) {
    const json::object* const rule = (*rules)[i].if_object();
    if (rule == nullptr) continue;
    out.push_back({TextsIn(*rule, "verbs"), TextsIn(*rule, "apiGroups"), TextsIn(*rule, "resources"),
                   TextsIn(*rule, "resourceNames"), TextsIn(*rule, "nonResourceURLs")});
  }
  return out;
}

json::array WriteRules(const std::vector<Rule>& rules) {
  json::array out;
  for (const Rule& rule : rules) {
    json::object& object = out.emplace_back(json::object()).get_object();
    const auto write = [&](const char* name, const Words& words) {
      if (words.empty()) return;
      json::array& list = object[name].emplace_array();
      for (const std::string& word : words) list.emplace_back(word);
    };
    write("verbs", rule.verbs);
    write("apiGroups", rule.groups);
    write("resources", rule.resources);
    write("resourceNames", rule.names);
    write("nonResourceURLs", rule.urls);
  }
  return out;
}

bool Allows(const Rule& rule, const Attributes& what) {
  if (!HasOrAll(rule.verbs, what.verb)) return false;
  if (!what.of_resource) {
    return std::any_of(rule.urls.begin(), rule.urls.end(),
                       [&](const std::string& url) { return UrlCovers(url, what.path); });
  }
  if (!HasOrAll(rule.groups, what.group) || (!rule.names.empty() && !Has(rule.names, what.name))) return false;
  if (what.subresource.empty()) return HasOrAll(rule.resources, what.resource);
  return HasOrAll(rule.resources, absl::StrCat(what.resource, "/", what.subresource)) ||
         Has(rule.resources, absl::StrCat("*/", what.subresource));
}

std::string Compact(const Rule& rule) {
  std::vector<std::string> parts;
  const auto add = [&](absl::string_view name, const Words& words) {
    if (words.empty()) return;
    parts.push_back(absl::StrCat(
        name, ":[",
        absl::StrJoin(words, " ",
                      [](std::string* out, const std::string& word) { out->append(api::JsonString(word)); }),
        "]"));
  };
  add("APIGroups", rule.groups);
  add("Resources", rule.resources);
  add("NonResourceURLs", rule.urls);
  add("ResourceNames", rule.names);
  add("Verbs", rule.verbs);
  return absl::StrCat("{", absl::StrJoin(parts, ", "), "}");
}

absl::StatusOr<std::vector<Rule>> MissingRights(absl::Span<const Rule> held, absl::Span<const Rule> wanted) {
  std::size_t held_words = 1, compared = 0;
  for (const Rule& rule : held) held_words += rule.words();
  std::vector<Rule> out;
  std::map<std::tuple<std::string, std::string, std::string>, Rule> by_resource;  // verbs of one resource together
  for (const Rule& rule : wanted) {
    GW_RETURN_IF_ERROR(ForEachPart(rule, [&](Rule part) {
      compared += held_words;
      if (compared > kMaxComparisons)
        return absl::ResourceExhaustedError("the rules are too many to compare with those that are held");
      if (std::any_of(held.begin(), held.end(), [&](const Rule& each) { return Covers(each, part); }))
        return absl::OkStatus();
      if (!part.urls.empty()) {
        out.push_back(std::move(part));
        return absl::OkStatus();
      }
      Rule& whole = by_resource[{part.groups[0], part.resources[0], part.names.empty() ? "" : part.names[0]}];
      if (whole.verbs.empty()) {
        whole = std::move(part);
      } else {
        whole.verbs.push_back(std::move(part.verbs[0]));
      }
      return absl::OkStatus();
    }));
  }
  for (auto& entry : by_resource) out.push_back(std::move(entry.second));
  return out;
}

}  // namespace gangway::sandbox::rbac
