// A task's pod while it is put together: what job plugins change of it.
#pragma once

#include <string>

#include <boost/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace gangway::lifecycle {

// One document serves all pods of a task, so a text that depends on the index holds a mark in its place.
struct PodDraft {
  boost::json::object& annotations;
  boost::json::object& spec;
  std::string index;  // stands for the pod's index in any text
  std::string plus;   // begins the mark of a sum
  // Stands for the pod's index plus `n`, n not negative.
  std::string IndexPlus(std::int32_t n) const { return absl::StrCat(plus, n, "@"); }
};

inline boost::json::array& ListAt(boost::json::object& parent, boost::json::string_view key) {
  boost::json::value& value = parent[key];
  if (!value.is_array()) value.emplace_array();
  return value.as_array();
}

enum class Containers { kRegular, kAll };  // kAll: init containers too, after the others

template <class F>
void EachContainer(boost::json::object& spec, Containers which, F f) {
  for (const char* list : {"containers", "initContainers"}) {
    if (list[0] == 'i' && which == Containers::kRegular) continue;
    if (auto* containers = spec.if_contains(list); containers != nullptr && containers->is_array()) {
      for (boost::json::value& container : containers->as_array()) {
        if (container.is_object()) f(container.as_object());
      }
    }
  }
}

// The text of a member; "" when there is none.
std::string TextAt(const boost::json::object& object, boost::json::string_view key);
// After the others, whether or not there is one of this name.
void AppendEnv(boost::json::object& container, absl::string_view name, absl::string_view value);
// At the end of its mounts. `sub_path`: only this part of the volume; "" = all of it.
void AddMount(boost::json::object& container, absl::string_view volume, absl::string_view path,
              absl::string_view sub_path = "");
// Unless there is a text already.
void SetIfEmpty(boost::json::object& object, boost::json::string_view key, absl::string_view value);
// Unless the number is exposed already. "" = without a name.
void ExposePort(boost::json::object& container, absl::string_view name, std::int64_t port);

}  // namespace gangway::lifecycle
