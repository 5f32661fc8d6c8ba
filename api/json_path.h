// Looking into a JSON document of which nothing is known: what is not there, or has another shape, is nothing.
#pragma once

#include <initializer_list>
#include <string>

#include <boost/json.hpp>

namespace gangway::api {

using JsonPath = std::initializer_list<boost::json::string_view>;

// The member of a member...; nullptr.
inline const boost::json::value* ValueAt(const boost::json::value& value, JsonPath path) {
  const boost::json::value* at = &value;
  for (const boost::json::string_view key : path) {
    const boost::json::object* const object = at->if_object();
    at = object == nullptr ? nullptr : object->if_contains(key);
    if (at == nullptr) return nullptr;
  }
  return at;
}

// A text there; "".
inline std::string TextAt(const boost::json::value& value, JsonPath path) {
  const boost::json::value* const found = ValueAt(value, path);
  return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string();
}

// The elements of a list there; none.
inline const boost::json::array& ListAt(const boost::json::value& value, JsonPath path) {
  static const boost::json::array kNone;
  const boost::json::value* const found = ValueAt(value, path);
  return found != nullptr && found->is_array() ? found->get_array() : kNone;
}

}  // namespace gangway::api
