// Documents that were written and read again.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include <boost/json.hpp>

namespace gangway::testutil {

// Whether they are the same but for the last bit of numbers that are no integers: Boost.JSON 1.81 reads long ones a bit
// too large or too small.
inline bool Near(const boost::json::value& a, const boost::json::value& b) {
  if (a.is_double() || b.is_double()) {
    if (!a.is_number() || !b.is_number()) return false;
    const double x = a.to_number<double>(), y = b.to_number<double>();
    return std::abs(x - y) <=
           4 * std::numeric_limits<double>::epsilon() * std::abs(x) + std::numeric_limits<double>::denorm_min();
  }
  if (a.is_array() && b.is_array())
    return std::equal(a.get_array().begin(), a.get_array().end(), b.get_array().begin(), b.get_array().end(), Near);
  if (!a.is_object() || !b.is_object()) return a == b;
  return a.get_object().size() == b.get_object().size() &&
         std::all_of(a.get_object().begin(), a.get_object().end(), [&b](const auto& member) {
           const boost::json::value* const other = b.get_object().if_contains(member.key());
           return other != nullptr && Near(member.value(), *other);
         });
}

}  // namespace gangway::testutil
