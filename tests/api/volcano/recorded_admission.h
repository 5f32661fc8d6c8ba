// The recorded requests to a real control plane (tests/golden/volcano/admission.json) and the cluster they met.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <boost/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/json_value.h"
#include "api/volcano/admission.h"
#include "gtest/gtest.h"
#include "tests/testing/files.h"

namespace gangway::api::volcano {

using boost::json::value;
using testutil::ReadFile;

inline value Json(absl::string_view text) {
  absl::StatusOr<value> parsed = ParseJson(text);
  EXPECT_TRUE(parsed.ok()) << parsed.status() << " in " << text;
  return parsed.ok() ? *parsed : value();
}

struct Row {
  int number = 0;
  std::string group, what, method, reason;
  int status = 0;
  value input;
  std::vector<std::string> mutations;
  std::set<std::string> causes;  // "FieldValueInvalid spec.minAvailable"
};

inline std::string TextOf(const boost::json::object& o, std::string_view key) {
  const auto it = o.find(key);
  return it == o.end() || !it->value().is_string() ? std::string() : std::string(it->value().get_string());
}

inline const std::vector<Row>& Rows() {
  static const std::vector<Row>& rows = *new std::vector<Row>([] {
    std::vector<Row> out;
    const value all = Json(ReadFile(GW_SOURCE_DIR "/tests/golden/volcano/admission.json"));
    for (const value& v : all.as_array()) {
      const boost::json::object& o = v.as_object();
      Row& row = out.emplace_back();
      row.number = static_cast<int>(out.size());
      row.group = TextOf(o, "group");
      row.what = TextOf(o, "what");
      row.method = TextOf(o, "method");
      row.reason = TextOf(o, "reason");
      row.status = static_cast<int>(o.at("status").as_int64());
      row.input = o.at("input");
      if (const auto it = o.find("mutations"); it != o.end() && it->value().is_array()) {
        for (const value& m : it->value().as_array()) row.mutations.emplace_back(m.as_string());
      }
      if (const auto it = o.find("causes"); it != o.end() && it->value().is_array()) {
        for (const value& c : it->value().as_array()) {
          row.causes.insert(absl::StrCat(TextOf(c.as_object(), "reason"), " ", TextOf(c.as_object(), "field")));
        }
      }
    }
    return out;
  }());
  return rows;
}

inline std::vector<Row> RowsOf(absl::string_view prefix) {
  std::vector<Row> out;
  std::copy_if(Rows().begin(), Rows().end(), std::back_inserter(out),
               [&](const Row& r) { return absl::StartsWith(r.group, prefix); });
  return out;
}

// The queues of the recorded cluster.
inline std::optional<QueueFacts> RecordedQueues(absl::string_view name) {
  static const std::map<std::string, QueueFacts> queues = {
      {"root", {"Open", "", {"default", "q-closed", "q-open", "q-parent"}, 0}},
      {"default", {"Open", "root", {}, 2}},
      {"q-parent", {"Open", "root", {"q-child"}, 0}},
      {"q-child", {"Open", "q-parent", {}, 0}},
      {"q-closed", {"Closed", "root", {}, 0}},
      {"q-open", {"Open", "root", {}, 0}},
  };
  const auto it = queues.find(std::string(name));
  if (it == queues.end()) return std::nullopt;
  return it->second;
}

inline std::string NameIn(const value& object) { return TextOf(object.as_object().at("metadata").as_object(), "name"); }

// Applies "~ /spec/queue: "default" -> "q-open"" and the like.
inline void ApplyChange(value& object, absl::string_view change) {
  const std::size_t end = change.find_first_of(": =", 2);
  const absl::string_view path = change.substr(2, end == absl::string_view::npos ? end : end - 2);
  std::vector<std::string> keys = absl::StrSplit(path.substr(1), '/');
  value* at = &object;
  for (std::size_t i = 0; i + 1 < keys.size(); ++i) {
    std::size_t index = 0;
    at = at->is_array() && absl::SimpleAtoi(keys[i], &index) ? &at->get_array().at(index) : &at->get_object()[keys[i]];
  }
  boost::json::object& parent = at->as_object();
  if (change[0] == '-') {
    parent.erase(keys.back());
  } else if (change[0] == '+') {
    parent[keys.back()] = Json(change.substr(change.find(" = ") + 3));
  } else {
    parent[keys.back()] = Json(change.substr(change.rfind(" -> ") + 4));
  }
}

inline value Changed(const value& before, const Row& row) {
  value after = before;
  for (const value& change : row.input.as_object().at("changed").as_array())
    ApplyChange(after, std::string(change.as_string()));
  return after;
}

inline value BaseJob() {
  return Json(
      R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":"base","namespace":"g-admission"},
    "spec":{"minAvailable":1,"maxRetry":3,"queue":"default","schedulerName":"volcano",
      "policies":[{"action":"RestartJob","event":"PodFailed"}],"plugins":{"svc":[]},
      "tasks":[
        {"maxRetry":3,"minAvailable":2,"name":"w","replicas":2,"template":{"metadata":{},"spec":{"containers":[{"image":"example.test/app:v1",
          "name":"w","resources":{"requests":{"cpu":"1","memory":"100M"}}}],"nodeSelector":{"none":"none"},"restartPolicy":"Never"}}},
        {"maxRetry":3,"minAvailable":1,"name":"x","replicas":1,"template":{"metadata":{},"spec":{"containers":[{"image":"example.test/app:v1",
          "name":"x","resources":{"requests":{"cpu":"1","memory":"100M"}}}],"restartPolicy":"Never"}}}]}})");
}

inline value QueueJson(const std::string& name) {
  static const std::map<std::string, std::string> specs = {
      {"root", R"({"weight":1})"},
      {"default", R"({"weight":1,"parent":"root"})"},
      {"q-child", R"({"weight":1,"parent":"q-parent"})"},
      {"q-open",
       R"({"weight":1,"parent":"root","capability":{"cpu":"10","memory":"10Gi"},"deserved":{"cpu":"5","memory":"5Gi"}})"},
  };
  return Json(absl::StrCat(R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":")", name,
                           R"("},"spec":)", specs.at(name), "}"));
}

}  // namespace gangway::api::volcano
