// A case with a difference and nothing that the difference does not need.
#pragma once

#include <functional>
#include <vector>

#include <boost/json.hpp>

namespace gangway::testutil {

// Of several cases which keep what makes the one they were made of worth showing. Asked a few dozen times, with up to
// some hundred cases.
using StillShows = std::function<std::vector<bool>(const std::vector<boost::json::object>&)>;

// Leaves out members of objects and elements of lists, anywhere, while the case shows the same; no single one of what
// is left can be left out.
boost::json::object ShrinkCase(boost::json::object shown, const StillShows& still_shows);

}  // namespace gangway::testutil
