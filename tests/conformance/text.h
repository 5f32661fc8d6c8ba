// Texts of cases and answers.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "boost/json.hpp"

namespace gangway::testutil {

inline std::string ToText(boost::json::string_view text) { return {text.data(), text.size()}; }

// Of a member; "" without.
inline std::string TextOf(const boost::json::object& in, absl::string_view name) {
  const boost::json::value* const value = in.if_contains({name.data(), name.size()});
  return value == nullptr || !value->is_string() ? "" : ToText(value->get_string());
}

}  // namespace gangway::testutil
