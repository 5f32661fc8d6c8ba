// An object being edited: a Boost.JSON document with its memory, and the accessors the router needs. The one header of
// this folder, with those of schemas/, that shows Boost.JSON.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "api/json_value.h"
#include "base/strings.h"
#include "boost/json/object.hpp"
#include "boost/json/value.hpp"

namespace gangway::sandbox {

// A document in an arena of its own, whose memory is used again by later drafts. Values made elsewhere and put into it
// are copied.
class Draft {
 public:
  Draft();  // an empty object
  Draft(Draft&& other) noexcept;
  Draft& operator=(Draft&&) = delete;
  ~Draft();

  // `json` has passed ParseCompletely or comes from the store. InvalidArgument when it is no object.
  static absl::StatusOr<Draft> Parse(absl::string_view json);
  // An object that the store holds, with or without its managedFields: what was committed can be read.
  static Draft OfStored(absl::string_view json);
  // A copy in an arena of its own.
  static Draft CopyOf(const Draft& other);

  boost::json::value& root() { return *root_; }
  const boost::json::value& root() const { return *root_; }
  boost::json::object& object() { return root_->get_object(); }
  const boost::json::object& object() const { return root_->get_object(); }
  // Made when absent; a value of another type is replaced.
  boost::json::object& Child(absl::string_view name);
  boost::json::object& metadata() { return Child("metadata"); }

 private:
  struct Arena;
  std::unique_ptr<Arena> arena_;        // null when moved from
  boost::json::value* root_ = nullptr;  // in the arena, which frees everything at once
};

// Null when absent or no object / list.
const boost::json::object* FindObject(const boost::json::object& in, absl::string_view name);
boost::json::object* FindObject(boost::json::object& in, absl::string_view name);
const boost::json::array* FindArray(const boost::json::object& in, absl::string_view name);
boost::json::array* FindArray(boost::json::object& in, absl::string_view name);
// The texts of a list; empty when it is absent.
std::vector<std::string> TextsIn(const boost::json::object& in, absl::string_view list);
// "" when absent or no string.
absl::string_view FindText(const boost::json::object& in, absl::string_view name);
// Null when absent; `name` may be a path with dots ("spec.nodeName"), each step an object.
const boost::json::value* FindPath(const boost::json::object& in, absl::string_view path);
absl::string_view TextAt(const boost::json::object& in, absl::string_view path);
std::int64_t IntAt(const boost::json::object& in, absl::string_view path, std::int64_t absent);
bool BoolAt(const boost::json::object& in, absl::string_view path);
boost::json::object& ObjectIn(boost::json::object& in, absl::string_view name);
void SetText(boost::json::object& in, absl::string_view name, absl::string_view text);
void SetTextIfAbsent(boost::json::object& in, absl::string_view name, absl::string_view text);
using api::AbslView;
using api::JsonView;

// Whether two values say the same, whatever the order of members. (Boost's own comparison copies every member.)
bool Equal(const boost::json::value& a, const boost::json::value& b);
bool Equal(const boost::json::object& a, const boost::json::object& b);
// Null is absent.
inline bool Equal(const boost::json::value* a, const boost::json::value* b) {
  return a == nullptr || b == nullptr ? a == b : Equal(*a, *b);
}

// The object with apiVersion, kind and metadata first, and metadata in Kubernetes' order, so that its resourceVersion
// can be found again: `*revision_at` is where its digits stand, 0 when it has none, `*metadata_end` where the brace
// behind the metadata does, 0 when there is none. Replaces `out`.
void WriteObject(const boost::json::object& object, std::string& out, std::uint32_t* revision_at,
                 std::uint32_t* metadata_end = nullptr);

}  // namespace gangway::sandbox
