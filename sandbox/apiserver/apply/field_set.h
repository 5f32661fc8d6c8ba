// A set of paths through objects of one type: what one manager owns, or what one write changed.
//
// The operations are those of structured-merge-diff's fieldpath.Set, the text is FieldsV1 of metadata.managedFields.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "boost/json/value.hpp"
#include "sandbox/apiserver/apply/path_element.h"

namespace gangway::sandbox::apply {

class FieldSet {
 public:
  struct Node {
    PathElement step;
    bool member = false;                 // the path that ends here
    std::unique_ptr<FieldSet> children;  // null: none below
  };

  FieldSet() = default;
  FieldSet(FieldSet&&) noexcept = default;
  FieldSet& operator=(FieldSet&&) noexcept = default;
  FieldSet Copy() const;

  bool Empty() const { return nodes_.empty(); }
  std::size_t Size() const;
  const std::vector<Node>& nodes() const { return nodes_; }  // in the order of PathElement::Compare

  // The empty path is no field.
  void Insert(const Path& path);
  // For whoever builds a level at once: Add in any order, each step once or more, then Sort. A step that is neither a
  // member nor has children is left out.
  void Add(PathElement step, bool member, FieldSet children);
  void Sort();
  const Node* Find(const PathElement& step) const;
  bool Has(const Path& path) const;

  static FieldSet Union(const FieldSet& a, const FieldSet& b);
  static FieldSet Intersection(const FieldSet& a, const FieldSet& b);
  // Members of `a` that are not members of `b`: what lies below a member of `b` stays.
  static FieldSet Difference(const FieldSet& a, const FieldSet& b);
  static FieldSet Difference(FieldSet&& a, const FieldSet& b);  // in place; for a small `b`
  // The same with everything below each member of `b`.
  static FieldSet RecursiveDifference(const FieldSet& a, const FieldSet& b);
  static FieldSet RecursiveDifference(FieldSet&& a, const FieldSet& b);  // in place; for a small `b`
  friend bool operator==(const FieldSet& a, const FieldSet& b);

  // Every member: of one level first, then what is below, as Kubernetes lists conflicts.
  void ForEach(absl::FunctionRef<void(const Path&)> visit) const;

  // {"f:spec":{"f:replicas":{}}}
  std::string ToFieldsV1() const;
  // nullopt: a key that is broken. Kinds of keys that are not known are left out, as Kubernetes does.
  static std::optional<FieldSet> FromFieldsV1(const boost::json::value& fields);
  static std::optional<FieldSet> FromFieldsV1(absl::string_view text);

 private:
  static FieldSet Without(FieldSet&& a, const FieldSet& b, bool with_children);
  void AppendFieldsV1(bool self, std::string& out) const;
  void ForEachBelow(Path& path, absl::FunctionRef<void(const Path&)> visit) const;

  std::vector<Node> nodes_;
};

}  // namespace gangway::sandbox::apply
