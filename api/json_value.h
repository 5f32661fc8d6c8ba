// A JSON document in memory: Boost.JSON, with our limits, our number format and merge patches.
#pragma once

#include <string>

#include <boost/json.hpp>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace gangway::api {

// Crossing between its string view and Abseil's.
inline boost::json::string_view JsonView(absl::string_view s) { return {s.data(), s.size()}; }
inline absl::string_view AbslView(boost::json::string_view s) { return {s.data(), s.size()}; }

// Of keys that stand twice the last one counts. Bytes from outside pass ParseCompletely first: its messages say where.
// Nesting beyond 256 is InvalidArgument. `storage` is for documents that die together.
absl::StatusOr<boost::json::value> ParseJson(absl::string_view json, boost::json::storage_ptr storage = {});

// Members in their order; numbers as Go writes them (0.5, 1e+21).
void AppendJson(const boost::json::value& value, std::string& out);
std::string ToJson(const boost::json::value& value);

// Erases a member and returns the next. The order of the others stays but in large objects, where keeping it would make
// many erasures quadratic.
inline boost::json::object::iterator EraseMember(boost::json::object& object, boost::json::object::iterator at) {
  constexpr std::size_t kLarge = 256;
  return object.size() > kLarge ? object.erase(at) : object.stable_erase(at);
}

// RFC 7386.
void ApplyMergePatch(boost::json::value& target, const boost::json::value& patch);
// The merge patch that makes `after` of `before`, in the storage of `after`; an empty object when there is no
// difference.
boost::json::object MergePatchBetween(const boost::json::object& before, const boost::json::object& after);

}  // namespace gangway::api
