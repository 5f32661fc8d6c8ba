// Reading and extending a JSON document that may have any shape. What is added is made in the document's own storage,
// so that nothing is copied from one to another.
#pragma once

#include <utility>

#include <boost/json.hpp>

#include "absl/strings/string_view.h"
#include "api/json_value.h"

namespace gangway::convert {

using api::AbslView;
using api::JsonView;

// nullptr where there is none, or null.
inline const boost::json::value* Find(const boost::json::object& parent, absl::string_view key) {
  const boost::json::value* const member = parent.if_contains(JsonView(key));
  return member == nullptr || member->is_null() ? nullptr : member;
}
inline const boost::json::object* FindObject(const boost::json::object& parent, absl::string_view key) {
  const boost::json::value* const member = parent.if_contains(JsonView(key));
  return member == nullptr ? nullptr : member->if_object();
}
inline const boost::json::array* FindList(const boost::json::object& parent, absl::string_view key) {
  const boost::json::value* const member = parent.if_contains(JsonView(key));
  return member == nullptr ? nullptr : member->if_array();
}
inline boost::json::object* FindObject(boost::json::object& parent, absl::string_view key) {
  boost::json::value* const member = parent.if_contains(JsonView(key));
  return member == nullptr ? nullptr : member->if_object();
}
inline boost::json::object* FindObject(boost::json::value& parent, absl::string_view key) {
  return parent.is_object() ? FindObject(parent.get_object(), key) : nullptr;
}
inline boost::json::array* FindList(boost::json::object& parent, absl::string_view key) {
  boost::json::value* const member = parent.if_contains(JsonView(key));
  return member == nullptr ? nullptr : member->if_array();
}
// "" where there is none. Valid until the document changes.
inline absl::string_view FindText(const boost::json::object& parent, absl::string_view key) {
  const boost::json::value* const member = parent.if_contains(JsonView(key));
  const boost::json::string* const text = member == nullptr ? nullptr : member->if_string();
  return text == nullptr ? absl::string_view() : AbslView(*text);
}

// Made where there is none; what has another shape gives way.
inline boost::json::object& ObjectIn(boost::json::object& parent, absl::string_view key) {
  boost::json::value& member = parent[JsonView(key)];
  if (!member.is_object()) member.emplace_object();
  return member.get_object();
}
inline boost::json::array& ListIn(boost::json::object& parent, absl::string_view key) {
  boost::json::value& member = parent[JsonView(key)];
  if (!member.is_array()) member.emplace_array();
  return member.get_array();
}
inline void SetText(boost::json::object& parent, absl::string_view key, absl::string_view text) {
  parent[JsonView(key)] = JsonView(text);
}

// A new element at the end.
inline boost::json::object& AppendObject(boost::json::array& list) {
  return list.emplace_back(boost::json::object(list.storage())).get_object();
}

template <class F>
void ForEachObject(const boost::json::array* list, F visit) {
  if (list == nullptr) return;
  for (const boost::json::value& element : *list) {
    if (const boost::json::object* const object = element.if_object()) visit(*object);
  }
}

}  // namespace gangway::convert
