// Whether a JSON value is as a case says: every member that the pattern names is there and matches, others may be
// there.
//
// In a pattern null means absent, a list means these elements and no others in this order, and a map with one member
// whose name begins with $ is a matcher:
//   {$any: true}       there, whatever it is          {$exactly: X}     equal to X, nothing more
//   {$like: REGEXP}    a text in which it is found    {$not: PATTERN}   there or not, but not that
//   {$size: N}         a list or map of N             {$contains: X}    a text with X in it; a list with an element for
//   each of X
//   {$among: [...]}    a list of these elements, in any order
#pragma once

#include <string>
#include <vector>

#include "boost/json.hpp"

namespace gangway::testutil {

// One line a difference, with its path; empty when it matches. `value` null: absent.
std::vector<std::string> Differences(const boost::json::value& pattern, const boost::json::value* value);

}  // namespace gangway::testutil
