// Reading a document that may lack anything: a missing or mistyped part reads as empty. Internal to this room.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/strings/string_view.h"
#include "boost/json.hpp"

namespace gangway::schemas {

class Look {
 public:
  explicit Look(const boost::json::value* value) : value_(value) {}

  Look operator[](absl::string_view key) const {
    const boost::json::object* object = value_ == nullptr ? nullptr : value_->if_object();
    return Look(object == nullptr ? nullptr : object->if_contains({key.data(), key.size()}));
  }
  bool present() const { return value_ != nullptr && !value_->is_null(); }
  absl::string_view text() const {
    const boost::json::string* s = value_ == nullptr ? nullptr : value_->if_string();
    return s == nullptr ? absl::string_view() : absl::string_view(s->data(), s->size());
  }
  absl::string_view text_or(absl::string_view otherwise) const {
    const absl::string_view s = text();
    return s.empty() ? otherwise : s;
  }
  std::int64_t number(std::int64_t otherwise = 0) const {
    const std::int64_t* n = value_ == nullptr ? nullptr : value_->if_int64();
    return n == nullptr ? otherwise : *n;
  }
  bool is_true() const {
    const bool* b = value_ == nullptr ? nullptr : value_->if_bool();
    return b != nullptr && *b;
  }
  // Members of an object or elements of a list.
  std::size_t size() const {
    if (value_ == nullptr) return 0;
    return value_->is_array() ? value_->get_array().size() : value_->is_object() ? value_->get_object().size() : 0;
  }
  Look at(std::size_t index) const {
    const boost::json::array* array = value_ == nullptr ? nullptr : value_->if_array();
    return Look(array == nullptr || index >= array->size() ? nullptr : &(*array)[index]);
  }
  // Empty when it is no list, or no object.
  const boost::json::array& list() const {
    static const boost::json::array kNone;
    const boost::json::array* array = value_ == nullptr ? nullptr : value_->if_array();
    return array == nullptr ? kNone : *array;
  }
  const boost::json::object& map() const {
    static const boost::json::object kNone;
    const boost::json::object* object = value_ == nullptr ? nullptr : value_->if_object();
    return object == nullptr ? kNone : *object;
  }
  const boost::json::value* value() const { return value_; }

 private:
  const boost::json::value* value_;
};

}  // namespace gangway::schemas
