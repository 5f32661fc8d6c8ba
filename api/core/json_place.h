// A value within a JSON document that knows where it is, for checks that report field errors. The path is written only
// when something is wrong. Views: a Place must not outlive the document nor the Place it was taken from.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>

#include <boost/json.hpp>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "api/field_error.h"
#include "api/quantity.h"

namespace gangway::api::core {

class Place {
 public:
  Place(const boost::json::value& document, absl::string_view path, FieldErrors& errors)
      : errors_(errors), key_(path), value_(document.is_null() ? nullptr : &document) {}

  // A member; absent when there is none, when it is null or when this is no object.
  Place operator[](absl::string_view key) const { return Place(*this, key, kNoIndex, Member(key)); }

  bool present() const { return value_ != nullptr; }
  const boost::json::value& json() const { return *value_; }
  std::string Path() const;
  FieldErrors& errors() const { return errors_; }

  // nullopt when absent; a value of another type is reported, and then nullopt too.
  std::optional<absl::string_view> Text() const;
  std::optional<std::int64_t> Integer() const;
  std::optional<bool> Bool() const;
  std::optional<Quantity> Amount() const;
  // False when absent; another type is reported.
  bool IsObject() const;
  bool IsList() const;

  // The text, "" when there is none; an absent or empty one is reported as required.
  absl::string_view RequiredText(absl::string_view rule = "") const;
  // Reports a text that is present, not empty, and none of these.
  void OneOf(std::initializer_list<absl::string_view> allowed) const;
  // Reports an integer outside [low, high].
  void Within(std::int64_t low, std::int64_t high) const;
  // Reports each complaint (api/name.h) as an invalid value.
  void Complain(const std::vector<std::string>& complaints) const;

  // Visits the elements of a list (of objects, members with keys); reports another type. Absent: nothing.
  void ForEachItem(absl::FunctionRef<void(const Place&, std::size_t index)> visit) const;
  void ForEachMember(absl::FunctionRef<void(const Place&, absl::string_view key)> visit) const;
  // How many elements; 0 when absent or no list.
  std::size_t size() const { return value_ != nullptr && value_->is_array() ? value_->get_array().size() : 0; }

  void Add(FieldError::Type type, absl::string_view rule, absl::string_view fix = {}) const;  // with the value
  void Required(absl::string_view rule = {}) const;
  void Invalid(absl::string_view rule, absl::string_view fix = {}) const { Add(FieldError::Type::kInvalid, rule, fix); }
  void Forbidden(absl::string_view rule, absl::string_view fix = {}) const;
  void Duplicate() const { Add(FieldError::Type::kDuplicate, ""); }

 private:
  static constexpr std::size_t kNoIndex = static_cast<std::size_t>(-1);
  Place(const Place& parent, absl::string_view key, std::size_t index, const boost::json::value* value)
      : errors_(parent.errors_), parent_(&parent), key_(key), index_(index), value_(value) {}
  const boost::json::value* Member(absl::string_view key) const;
  void WrongType(absl::string_view wanted) const;

  FieldErrors& errors_;
  const Place* parent_ = nullptr;
  absl::string_view key_;
  std::size_t index_ = kNoIndex;
  const boost::json::value* value_;
};

}  // namespace gangway::api::core
