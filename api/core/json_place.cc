#include "api/core/json_place.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/field_walk.h"
#include "api/json_value.h"

namespace gangway::api::core {
namespace {

constexpr std::size_t kMaxShownBytes = 128;

}  // namespace

const boost::json::value* Place::Member(absl::string_view key) const {
  if (value_ == nullptr || !value_->is_object()) return nullptr;
  const boost::json::object& members = value_->get_object();
  const auto it = members.find({key.data(), key.size()});
  return it == members.end() || it->value().is_null() ? nullptr : &it->value();
}

std::string Place::Path() const {
  if (parent_ == nullptr) return std::string(key_);
  return index_ == kNoIndex ? ChildPath(parent_->Path(), key_) : IndexPath(parent_->Path(), index_);
}

void Place::Add(FieldError::Type type, absl::string_view rule, absl::string_view fix) const {
  if (Full(errors_)) return;
  std::string shown = value_ == nullptr ? std::string() : ToJson(*value_);
  if (shown.size() > kMaxShownBytes) shown = absl::StrCat(shown.substr(0, kMaxShownBytes), "...");
  AddFieldError(errors_, type, Path(), shown, rule, fix);
}

void Place::Required(absl::string_view rule) const {
  if (!Full(errors_)) AddFieldError(errors_, FieldError::Type::kRequired, Path(), "", rule);
}

void Place::Forbidden(absl::string_view rule, absl::string_view fix) const {
  if (!Full(errors_)) AddFieldError(errors_, FieldError::Type::kForbidden, Path(), "", rule, fix);
}

void Place::WrongType(absl::string_view wanted) const {
  Add(FieldError::Type::kTypeInvalid, absl::StrCat("must be ", wanted),
      wanted == "a string" && !value_->is_structured() ? "put it in quotes" : "");
}

std::optional<absl::string_view> Place::Text() const {
  if (value_ == nullptr) return std::nullopt;
  if (const boost::json::string* text = value_->if_string()) return AbslView(*text);
  WrongType("a string");
  return std::nullopt;
}

std::optional<std::int64_t> Place::Integer() const {
  if (value_ == nullptr) return std::nullopt;
  if (const std::int64_t* number = value_->if_int64()) return *number;
  WrongType("a whole number");
  return std::nullopt;
}

std::optional<bool> Place::Bool() const {
  if (value_ == nullptr) return std::nullopt;
  if (const bool* flag = value_->if_bool()) return *flag;
  WrongType("true or false, without quotes");
  return std::nullopt;
}

std::optional<Quantity> Place::Amount() const {
  if (value_ == nullptr) return std::nullopt;
  if (!value_->is_string() && !value_->is_number()) {
    WrongType("a quantity");
    return std::nullopt;
  }
  const absl::StatusOr<Quantity> amount =
      value_->is_string() ? Quantity::Parse(AbslView(value_->get_string())) : Quantity::Parse(ToJson(*value_));
  if (amount.ok()) return *amount;
  Invalid("must be a quantity", "such as 500m, 2 or 16Gi");
  return std::nullopt;
}

bool Place::IsObject() const {
  if (value_ == nullptr) return false;
  if (!value_->is_object()) WrongType("an object");
  return value_->is_object();
}

bool Place::IsList() const {
  if (value_ == nullptr) return false;
  if (!value_->is_array()) WrongType("a list");
  return value_->is_array();
}

absl::string_view Place::RequiredText(absl::string_view rule) const {
  if (value_ != nullptr && !value_->is_string()) {
    WrongType("a string");
    return {};
  }
  const absl::string_view text = value_ == nullptr ? absl::string_view() : AbslView(value_->get_string());
  if (text.empty()) Required(std::string(rule));
  return text;
}

void Place::OneOf(std::initializer_list<absl::string_view> allowed) const {
  const std::optional<absl::string_view> text = Text();
  if (!text.has_value() || text->empty() || std::find(allowed.begin(), allowed.end(), *text) != allowed.end()) return;
  const auto quoted = [](std::string* out, absl::string_view word) { absl::StrAppend(out, "\"", word, "\""); };
  Add(FieldError::Type::kNotSupported, absl::StrCat("supported values: ", absl::StrJoin(allowed, ", ", quoted)));
}

void Place::Within(std::int64_t low, std::int64_t high) const {
  const std::optional<std::int64_t> number = Integer();
  if (!number.has_value() || (*number >= low && *number <= high)) return;
  Invalid(high == INT64_MAX ? absl::StrCat("must be at least ", low)
                            : absl::StrCat("must be between ", low, " and ", high));
}

void Place::Complain(const std::vector<std::string>& complaints) const {
  for (const std::string& complaint : complaints) Invalid(complaint);
}

void Place::ForEachItem(absl::FunctionRef<void(const Place&, std::size_t)> visit) const {
  if (!IsList()) return;
  const boost::json::array& items = value_->get_array();
  for (std::size_t i = 0; i < items.size() && !Full(errors_); ++i) {
    visit(Place(*this, "", i, items[i].is_null() ? nullptr : &items[i]), i);
  }
}

void Place::ForEachMember(absl::FunctionRef<void(const Place&, absl::string_view)> visit) const {
  if (!IsObject()) return;
  for (const auto& member : value_->get_object()) {
    if (Full(errors_)) return;
    const absl::string_view key = AbslView(member.key());
    visit(Place(*this, key, kNoIndex, member.value().is_null() ? nullptr : &member.value()), key);
  }
}

}  // namespace gangway::api::core
