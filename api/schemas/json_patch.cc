#include "api/schemas/json_patch.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/json_value.h"
#include "base/status_macros.h"
#include "boost/json.hpp"

namespace gangway::schemas {
namespace {

namespace json = boost::json;

constexpr std::size_t kMaxCopiedBytes = 3 * 1024 * 1024;  // k8s.io/apiserver: JSONPatchMaxCopyBytes
// Elements that the operations of one patch may shift or look at, all together: some 50 ms of the loop.
constexpr std::size_t kMaxEffort = 16u << 20;

absl::Status NotThere(absl::string_view pointer) {
  return absl::FailedPreconditionError(absl::StrCat("there is nothing at path \"", pointer, "\""));
}

// RFC 6901, decoded.
struct Pointer {
  std::string text;
  std::vector<std::string> tokens;
};

absl::StatusOr<std::string> Unescape(absl::string_view token) {
  std::string out;
  for (std::size_t i = 0; i < token.size(); ++i) {
    if (token[i] != '~') {
      out += token[i];
    } else if (++i < token.size() && (token[i] == '0' || token[i] == '1')) {
      out += token[i] == '0' ? '~' : '/';
    } else {
      return absl::InvalidArgumentError("'~' must be followed by 0 or 1");
    }
  }
  return out;
}

absl::StatusOr<Pointer> ParsePointer(const json::object& operation, absl::string_view member) {
  const json::value* value = operation.if_contains(api::JsonView(member));
  if (value == nullptr || !value->is_string()) {
    return absl::InvalidArgumentError(absl::StrCat("\"", member, "\" must be a JSON pointer"));
  }
  Pointer pointer;
  pointer.text = std::string(api::AbslView(value->get_string()));
  if (pointer.text.empty()) return pointer;
  if (pointer.text[0] != '/')
    return absl::InvalidArgumentError(absl::StrCat("\"", member, "\" must be empty or begin with '/'"));
  for (const absl::string_view token : absl::StrSplit(absl::string_view(pointer.text).substr(1), '/')) {
    GW_ASSIGN_OR_RETURN(std::string plain, Unescape(token));
    pointer.tokens.push_back(std::move(plain));
  }
  return pointer;
}

// An index below `end`; leading zeros and signs are no index.
bool ParseIndex(const std::string& token, std::size_t end, std::size_t& index) {
  if (token.empty() || (token.size() > 1 && token[0] == '0')) return false;
  const auto [stop, error] = std::from_chars(token.data(), token.data() + token.size(), index);
  return error == std::errc() && stop == token.data() + token.size() && index < end;
}

// One step down; nullptr when there is nothing.
json::value* Step(json::value& at, const std::string& token) {
  if (at.is_object()) return at.get_object().if_contains(api::JsonView(token));
  std::size_t index = 0;
  if (at.is_array() && ParseIndex(token, at.get_array().size(), index)) return &at.get_array()[index];
  return nullptr;
}

json::value* Find(json::value& root, const Pointer& pointer) {
  json::value* at = &root;
  for (const std::string& token : pointer.tokens) {
    if ((at = Step(*at, token)) == nullptr) return nullptr;
  }
  return at;
}

json::value* FindParent(json::value& root, const Pointer& pointer) {
  json::value* at = &root;
  for (std::size_t i = 0; i + 1 < pointer.tokens.size(); ++i) {
    if ((at = Step(*at, pointer.tokens[i])) == nullptr) return nullptr;
  }
  return at;
}

// As RFC 6902 section 4.6 has it: 1 and 1.0 are the same number.
bool Same(const json::value& a, const json::value& b) {
  if (a.is_number() && b.is_number()) {
    return a == b || ((a.is_double() || b.is_double()) && a.to_number<double>() == b.to_number<double>());
  }
  if (a.is_array() && b.is_array()) {
    return std::equal(a.get_array().begin(), a.get_array().end(), b.get_array().begin(), b.get_array().end(), Same);
  }
  if (a.is_object() && b.is_object()) {
    if (a.get_object().size() != b.get_object().size()) return false;
    for (const json::key_value_pair& member : a.get_object()) {
      const json::value* other = b.get_object().if_contains(member.key());
      if (other == nullptr || !Same(member.value(), *other)) return false;
    }
    return true;
  }
  return a == b;
}

class Patcher {
 public:
  explicit Patcher(json::value& target) : target_(target) {}

  absl::Status Apply(const json::value& operation) {
    if (!operation.is_object()) return absl::InvalidArgumentError("must be an object");
    const json::object& members = operation.get_object();
    const json::value* op = members.if_contains("op");
    if (op == nullptr || !op->is_string()) return absl::InvalidArgumentError("\"op\" must be a string");
    GW_ASSIGN_OR_RETURN(const Pointer path, ParsePointer(members, "path"));
    const absl::string_view name = api::AbslView(op->get_string());
    if (name == "remove") return Remove(path).status();
    if (name == "move" || name == "copy") return MoveOrCopy(members, path, name == "copy");
    if (name != "add" && name != "replace" && name != "test") {
      return absl::FailedPreconditionError(
          absl::StrCat("unknown op \"", name, "\": add, remove, replace, move, copy or test"));
    }
    const json::value* value = members.if_contains("value");
    if (value == nullptr) return absl::InvalidArgumentError(absl::StrCat("op \"", name, "\" needs a \"value\""));
    if (name != "test") GW_RETURN_IF_ERROR(CheckDepth(*value, path));
    if (name == "add") return Add(path, json::value(*value, target_.storage()));
    json::value* present = Find(target_, path);
    if (present == nullptr) return NotThere(path.text);
    if (name == "replace") {
      *present = *value;
    } else if (!Same(*present, *value)) {
      return absl::FailedPreconditionError(
          absl::StrCat("test of path \"", path.text, "\" failed: the value is another"));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Add(const Pointer& pointer, json::value value) {
    if (pointer.tokens.empty()) {
      target_ = std::move(value);
      return absl::OkStatus();
    }
    json::value* parent = FindParent(target_, pointer);
    if (parent == nullptr) return NotThere(pointer.text);
    const std::string& token = pointer.tokens.back();
    if (parent->is_object()) {
      parent->get_object()[api::JsonView(token)] = std::move(value);
      return absl::OkStatus();
    }
    if (!parent->is_array()) return NotThere(pointer.text);
    json::array& list = parent->get_array();
    std::size_t index = list.size();
    if (token != "-" && !ParseIndex(token, list.size() + 1, index)) return NotThere(pointer.text);
    GW_RETURN_IF_ERROR(Spend(list.size() - index));
    list.insert(list.begin() + static_cast<std::ptrdiff_t>(index), std::move(value));
    return absl::OkStatus();
  }

  absl::StatusOr<json::value> Remove(const Pointer& pointer) {
    if (pointer.tokens.empty()) return absl::FailedPreconditionError("the whole document cannot be removed");
    json::value* parent = FindParent(target_, pointer);
    json::value* present = parent == nullptr ? nullptr : Step(*parent, pointer.tokens.back());
    if (present == nullptr) return NotThere(pointer.text);
    json::value out = std::move(*present);
    if (parent->is_object()) {
      api::EraseMember(parent->get_object(), parent->get_object().find(api::JsonView(pointer.tokens.back())));
    } else {
      json::array& list = parent->get_array();
      const std::ptrdiff_t index = present - list.data();
      GW_RETURN_IF_ERROR(Spend(list.size() - static_cast<std::size_t>(index)));
      list.erase(list.begin() + index);
    }
    return out;
  }

  absl::Status MoveOrCopy(const json::object& members, const Pointer& path, bool copy) {
    GW_ASSIGN_OR_RETURN(const Pointer from, ParsePointer(members, "from"));
    if (copy) {
      const json::value* source = Find(target_, from);
      if (source == nullptr) return NotThere(from.text);
      copied_bytes_ += api::ToJson(*source).size();
      if (copied_bytes_ > kMaxCopiedBytes) {
        return absl::FailedPreconditionError(absl::StrCat("copies grow the object by ", copied_bytes_,
                                                          " bytes, more than the limit of ", kMaxCopiedBytes));
      }
      GW_RETURN_IF_ERROR(CheckDepth(*source, path));
      return Add(path, json::value(*source));
    }
    if (path.text != from.text && absl::StartsWith(path.text, from.text + "/")) {
      return absl::InvalidArgumentError("a value cannot be moved into itself");
    }
    GW_ASSIGN_OR_RETURN(json::value value, Remove(from));
    if (path.tokens.size() > from.tokens.size()) {
      GW_RETURN_IF_ERROR(SpendOn(value));
      GW_RETURN_IF_ERROR(CheckDepth(value, path));
    }
    return Add(path, std::move(value));
  }

  // The document was no deeper than it may be before, so it is enough to look at what comes in.
  static absl::Status CheckDepth(const json::value& value, const Pointer& path) {
    if (path.tokens.size() <= kMaxObjectDepth && !IsDeeperThan(value, kMaxObjectDepth - path.tokens.size()))
      return absl::OkStatus();
    return absl::FailedPreconditionError(
        absl::StrCat("the value would make the object deeper than ", kMaxObjectDepth, " levels"));
  }

  absl::Status Spend(std::size_t effort) {
    effort_ += effort;
    if (effort_ <= kMaxEffort) return absl::OkStatus();
    return absl::ResourceExhaustedError(absl::StrCat("the operations so far shift or look at more than ", kMaxEffort,
                                                     " elements of lists: replace the list as a whole"));
  }
  // Looking at all of a value.
  absl::Status SpendOn(const json::value& value) {
    if (value.is_array()) {
      GW_RETURN_IF_ERROR(Spend(value.get_array().size()));
      for (const json::value& element : value.get_array()) GW_RETURN_IF_ERROR(SpendOn(element));
    } else if (value.is_object()) {
      GW_RETURN_IF_ERROR(Spend(value.get_object().size()));
      for (const json::key_value_pair& member : value.get_object()) GW_RETURN_IF_ERROR(SpendOn(member.value()));
    }
    return absl::OkStatus();
  }

  json::value& target_;
  std::size_t copied_bytes_ = 0;
  std::size_t effort_ = 0;
};

}  // namespace

bool IsDeeperThan(const json::value& value, std::size_t levels) {
  if (!value.is_structured()) return false;
  if (levels == 0) return true;
  const auto deeper = [levels](const json::value& below) { return IsDeeperThan(below, levels - 1); };
  if (value.is_array()) return std::any_of(value.get_array().begin(), value.get_array().end(), deeper);
  const json::object& members = value.get_object();
  return std::any_of(members.begin(), members.end(),
                     [&](const json::key_value_pair& member) { return deeper(member.value()); });
}

absl::Status ApplyJsonPatch(json::value& target, const json::value& patch) {
  if (!patch.is_array()) return absl::InvalidArgumentError("a JSON patch must be a list of operations");
  const json::array& operations = patch.get_array();
  if (operations.size() > kMaxJsonPatchOperations) {
    return absl::ResourceExhaustedError(absl::StrCat("the allowed maximum of operations in a JSON patch is ",
                                                     kMaxJsonPatchOperations, ", got ", operations.size()));
  }
  Patcher patcher(target);
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const absl::Status status = patcher.Apply(operations[i]);
    if (!status.ok()) return {status.code(), absl::StrCat("JSON patch operation ", i, ": ", status.message())};
  }
  return absl::OkStatus();
}

}  // namespace gangway::schemas
