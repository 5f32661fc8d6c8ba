#include "api/selector.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/field_table.h"
#include "api/json.h"
#include "api/name.h"
#include "base/status_macros.h"
#include "base/strings.h"

namespace gangway::api {
namespace {

using Operator = LabelSelector::Operator;
using Requirement = LabelSelector::Requirement;

absl::string_view Sign(Operator op) {
  switch (op) {
    case Operator::kEquals:
      return "=";
    case Operator::kNotEquals:
      return "!=";
    case Operator::kIn:
      return " in ";
    case Operator::kNotIn:
      return " notin ";
    case Operator::kGreaterThan:
      return ">";
    case Operator::kLessThan:
      return "<";
    case Operator::kExists:
    case Operator::kDoesNotExist:
      return "";
  }
  return "";
}

// strconv.ParseInt, which takes no blanks.
std::optional<std::int64_t> Integer(absl::string_view text) {
  std::int64_t n = 0;
  if (text.empty() || text.find_first_of(" \t\r\n\f\v") != absl::string_view::npos || !absl::SimpleAtoi(text, &n)) {
    return std::nullopt;
  }
  return n;
}

bool Holds(const Requirement& requirement, const std::string* value) {
  const auto listed = [&] { return std::binary_search(requirement.values.begin(), requirement.values.end(), *value); };
  switch (requirement.op) {
    case Operator::kEquals:
    case Operator::kIn:
      return value != nullptr && listed();
    case Operator::kNotEquals:
    case Operator::kNotIn:
      return value == nullptr || !listed();
    case Operator::kExists:
      return value != nullptr;
    case Operator::kDoesNotExist:
      return value == nullptr;
    case Operator::kGreaterThan:
    case Operator::kLessThan: {
      if (value == nullptr || requirement.values.size() != 1) return false;
      const std::optional<std::int64_t> is = Integer(*value);
      const std::optional<std::int64_t> bound = Integer(requirement.values[0]);
      if (!is || !bound) return false;
      return requirement.op == Operator::kGreaterThan ? *is > *bound : *is < *bound;
    }
  }
  return false;
}

absl::Status Invalid(absl::string_view what, absl::string_view value, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(what, ": Invalid value: ", JsonString(value), ": ", why));
}

absl::Status CheckKey(absl::string_view key) {
  const Complaints complaints = CheckLabelKey(key);
  return complaints.empty() ? absl::OkStatus() : Invalid("key", key, absl::StrJoin(complaints, "; "));
}

// Sorts the values; Kubernetes' rules for how many there may be.
absl::StatusOr<Requirement> MakeRequirement(std::string key, Operator op, std::vector<std::string> values) {
  GW_RETURN_IF_ERROR(CheckKey(key));
  const std::string given = absl::StrJoin(values, ",");
  switch (op) {
    case Operator::kIn:
    case Operator::kNotIn:
      if (values.empty()) return Invalid("values", given, "for 'in', 'notin' operators, values set can't be empty");
      break;
    case Operator::kEquals:
    case Operator::kNotEquals:
      if (values.size() != 1) return Invalid("values", given, "exact-match compatibility requires one single value");
      break;
    case Operator::kExists:
    case Operator::kDoesNotExist:
      if (!values.empty()) return Invalid("values", given, "values set must be empty for exists and does not exist");
      break;
    case Operator::kGreaterThan:
    case Operator::kLessThan:
      if (values.size() != 1)
        return Invalid("values", given, "for 'Gt', 'Lt' operators, exactly one value is required");
      if (!Integer(values[0]))
        return Invalid("values[0]", values[0], "for 'Gt', 'Lt' operators, the value must be an integer");
      break;
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Complaints complaints = CheckLabelValue(values[i]);
    if (!complaints.empty())
      return Invalid(absl::StrCat("values[", i, "][", key, "]"), values[i], absl::StrJoin(complaints, "; "));
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return Requirement{std::move(key), op, std::move(values)};
}

void SortByKey(std::vector<Requirement>& requirements) {
  std::stable_sort(requirements.begin(), requirements.end(),
                   [](const Requirement& a, const Requirement& b) { return a.key < b.key; });
}

// The parts of a query: identifiers, and the signs = == != > < ! , ( ). At the end the part is empty.
class Lexer {
 public:
  explicit Lexer(absl::string_view text) : rest_(text) { Next(); }
  absl::string_view part() const { return part_; }
  bool end() const { return part_.empty(); }
  bool identifier() const { return !end() && kSigns.find(part_[0]) == absl::string_view::npos; }
  bool Is(absl::string_view text) const { return part_ == text; }
  bool Take(absl::string_view text) {
    if (!Is(text)) return false;
    Next();
    return true;
  }
  std::string TakePart() {
    std::string out(part_);
    Next();
    return out;
  }

 private:
  static constexpr absl::string_view kSigns = "=!(),><";
  static constexpr absl::string_view kBlanks = " \t\r\n";

  void Next() {
    const std::size_t start = rest_.find_first_not_of(kBlanks);
    rest_.remove_prefix(start == absl::string_view::npos ? rest_.size() : start);
    part_ = rest_.substr(0, Length());
    rest_.remove_prefix(part_.size());
  }
  std::size_t Length() const {
    if (rest_.empty()) return 0;
    if (rest_[0] == '=' || rest_[0] == '!') return rest_.size() > 1 && rest_[1] == '=' ? 2 : 1;
    if (kSigns.find(rest_[0]) != absl::string_view::npos) return 1;
    std::size_t n = 1;
    while (n < rest_.size() && kSigns.find(rest_[n]) == absl::string_view::npos &&
           kBlanks.find(rest_[n]) == absl::string_view::npos)
      ++n;
    return n;
  }

  absl::string_view rest_, part_;
};

class QueryParser {
 public:
  explicit QueryParser(absl::string_view query) : in_(query) {}

  absl::StatusOr<std::vector<Requirement>> Run() {
    std::vector<Requirement> out;
    if (in_.end()) return out;
    while (true) {
      if (!in_.identifier() && !in_.Is("!")) {
        return Found(out.empty() ? "!, identifier, or 'end of string'" : "identifier after ','");
      }
      absl::StatusOr<Requirement> one = One();
      if (!one.ok())
        return absl::InvalidArgumentError(absl::StrCat("unable to parse requirement: ", one.status().message()));
      out.push_back(*std::move(one));
      if (in_.end()) return out;
      if (!in_.Take(",")) return Found("',' or 'end of string'");
    }
  }

 private:
  absl::StatusOr<Requirement> One() {
    const bool absent = in_.Take("!");
    if (!in_.identifier()) return Found("identifier");
    std::string key = in_.TakePart();
    if (absent) return MakeRequirement(std::move(key), Operator::kDoesNotExist, {});
    if (in_.end() || in_.Is(",")) return MakeRequirement(std::move(key), Operator::kExists, {});
    GW_RETURN_IF_ERROR(CheckKey(key));
    GW_ASSIGN_OR_RETURN(const Operator op, TakeOperator());
    if (op == Operator::kIn || op == Operator::kNotIn) {
      GW_ASSIGN_OR_RETURN(std::vector<std::string> values, List());
      return MakeRequirement(std::move(key), op, std::move(values));
    }
    if (in_.end() || in_.Is(",")) return MakeRequirement(std::move(key), op, {""});
    if (!in_.identifier()) return Found("identifier");
    std::vector<std::string> values{in_.TakePart()};
    return MakeRequirement(std::move(key), op, std::move(values));
  }

  absl::StatusOr<Operator> TakeOperator() {
    if (in_.Take("=") || in_.Take("==")) return Operator::kEquals;
    if (in_.Take("!=")) return Operator::kNotEquals;
    if (in_.Take("in")) return Operator::kIn;
    if (in_.Take("notin")) return Operator::kNotIn;
    if (in_.Take(">")) return Operator::kGreaterThan;
    if (in_.Take("<")) return Operator::kLessThan;
    return Found("in, notin, =, ==, !=, gt, lt");
  }

  // "(a,b)"; where nothing stands, as in "()" or between two commas, stands the empty value.
  absl::StatusOr<std::vector<std::string>> List() {
    std::vector<std::string> values;
    if (!in_.Take("(")) return Found("'('");
    while (true) {
      if (!in_.identifier() && !in_.Is(",") && !in_.Is(")")) return Found("',', ')' or identifier");
      values.push_back(in_.identifier() ? in_.TakePart() : std::string());
      if (in_.Take(")")) return values;
      if (!in_.Take(",")) return Found("',' or ')'");
    }
  }

  absl::Status Found(absl::string_view expected) const {
    return absl::InvalidArgumentError(absl::StrCat("found '", in_.part(), "', expected: ", expected));
  }

  Lexer in_;
};

// metav1.LabelSelector
struct ExpressionView {
  std::string key, op;
  std::vector<std::string> values;
  static constexpr std::string_view kName = "LabelSelectorRequirement";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&ExpressionView::key>("key", ""), MakeField<&ExpressionView::op>("operator", ""),
                      MakeField<&ExpressionView::values>("values", ""));
  }
};
struct SelectorView {
  std::map<std::string, std::string> match_labels;
  std::vector<ExpressionView> match_expressions;
  static constexpr std::string_view kName = "LabelSelector";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&SelectorView::match_labels>("matchLabels", ""),
                      MakeField<&SelectorView::match_expressions>("matchExpressions", ""));
  }
};

absl::StatusOr<Operator> OperatorOf(absl::string_view name) {
  if (name == "In") return Operator::kIn;
  if (name == "NotIn") return Operator::kNotIn;
  if (name == "Exists") return Operator::kExists;
  if (name == "DoesNotExist") return Operator::kDoesNotExist;
  return absl::InvalidArgumentError(absl::StrCat(JsonString(name), " is not a valid label selector operator"));
}

}  // namespace

absl::StatusOr<LabelSelector> LabelSelector::Parse(absl::string_view query) {
  LabelSelector out;
  GW_ASSIGN_OR_RETURN(out.requirements_, QueryParser(query).Run());
  SortByKey(out.requirements_);
  return out;
}

absl::StatusOr<LabelSelector> LabelSelector::FromJson(absl::string_view json) {
  if (json.empty() || json == "null") return Nothing();
  GW_ASSIGN_OR_RETURN(const SelectorView view, Decode<SelectorView>(json));
  LabelSelector out;
  for (const auto& [key, value] : view.match_labels) {
    GW_ASSIGN_OR_RETURN(Requirement one, MakeRequirement(key, Operator::kIn, {value}));
    one.op = Operator::kEquals;
    out.requirements_.push_back(std::move(one));
  }
  for (const ExpressionView& expression : view.match_expressions) {
    GW_ASSIGN_OR_RETURN(const Operator op, OperatorOf(expression.op));
    GW_ASSIGN_OR_RETURN(Requirement one, MakeRequirement(expression.key, op, expression.values));
    out.requirements_.push_back(std::move(one));
  }
  SortByKey(out.requirements_);
  return out;
}

LabelSelector LabelSelector::FromLabels(const std::map<std::string, std::string>& labels) {
  LabelSelector out;
  for (const auto& [key, value] : labels) out.requirements_.push_back({key, Operator::kEquals, {value}});
  return out;
}

LabelSelector LabelSelector::Nothing() {
  LabelSelector out;
  out.nothing_ = true;
  return out;
}

bool LabelSelector::Matches(const std::map<std::string, std::string>& labels) const {
  return MatchesWith([&labels](const std::string& key) -> const std::string* {
    const auto at = labels.find(key);
    return at == labels.end() ? nullptr : &at->second;
  });
}

bool LabelSelector::MatchesWith(absl::FunctionRef<const std::string*(const std::string& key)> find) const {
  if (nothing_) return false;
  for (const Requirement& requirement : requirements_) {
    if (!Holds(requirement, find(requirement.key))) return false;
  }
  return true;
}

std::string LabelSelector::ToString() const {
  return absl::StrJoin(requirements_, ",", [](std::string* out, const Requirement& one) {
    const bool list = one.op == Operator::kIn || one.op == Operator::kNotIn;
    absl::StrAppend(out, one.op == Operator::kDoesNotExist ? "!" : "", one.key, Sign(one.op), list ? "(" : "",
                    absl::StrJoin(one.values, ","), list ? ")" : "");
  });
}

// --- fields

namespace {

// Cuts at the first comma without a backslash before it.
absl::string_view TakeTerm(absl::string_view& rest) {
  std::size_t i = 0;
  while (i < rest.size() && rest[i] != ',') i += rest[i] == '\\' ? 2 : 1;
  i = std::min(i, rest.size());
  const absl::string_view term = rest.substr(0, i);
  rest.remove_prefix(std::min(i + 1, rest.size()));
  return term;
}

absl::StatusOr<std::string> Unescaped(absl::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '=') return absl::InvalidArgumentError("invalid field selector: unescaped character in value: '='");
    if (text[i] == '\\') {
      ++i;
      if (i == text.size() || (text[i] != '\\' && text[i] != ',' && text[i] != '=')) {
        return absl::InvalidArgumentError(
            absl::StrCat("invalid field selector: invalid escape sequence: ", text.substr(i - 1, 2)));
      }
    }
    out += text[i];
  }
  return out;
}

std::string Escaped(absl::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == ',' || c == '=') out += '\\';
    out += c;
  }
  return out;
}

absl::StatusOr<FieldSelector::Requirement> ReadTerm(absl::string_view term, absl::string_view query) {
  for (std::size_t i = 0; i < term.size(); i += term[i] == '\\' ? 2 : 1) {
    const absl::string_view rest = term.substr(i);
    const bool differs = rest.substr(0, 2) == "!=";
    if (!differs && rest[0] != '=') continue;
    const std::size_t length = differs || rest.substr(0, 2) == "==" ? 2 : 1;
    GW_ASSIGN_OR_RETURN(std::string value, Unescaped(rest.substr(length)));
    return FieldSelector::Requirement{std::string(term.substr(0, i)), std::move(value), !differs};
  }
  return absl::InvalidArgumentError(absl::StrCat("invalid selector: '", query, "'; can't understand '", term, "'"));
}

}  // namespace

absl::StatusOr<FieldSelector> FieldSelector::Parse(absl::string_view query) {
  FieldSelector out;
  for (absl::string_view rest = query; !rest.empty();) {
    const absl::string_view term = TakeTerm(rest);
    if (term.empty()) continue;
    GW_ASSIGN_OR_RETURN(Requirement one, ReadTerm(term, query));
    out.requirements_.push_back(std::move(one));
  }
  return out;
}

bool FieldSelector::Matches(absl::FunctionRef<std::string(absl::string_view field)> value_of) const {
  for (const Requirement& one : requirements_) {
    if ((value_of(one.field) == one.value) != one.equal) return false;
  }
  return true;
}

const std::string* FieldSelector::RequiredValue(absl::string_view field) const {
  for (const Requirement& one : requirements_) {
    if (one.equal && one.field == field) return &one.value;
  }
  return nullptr;
}

std::string FieldSelector::ToString() const {
  return absl::StrJoin(requirements_, ",", [](std::string* out, const Requirement& one) {
    absl::StrAppend(out, one.field, one.equal ? "=" : "!=", Escaped(one.value));
  });
}

}  // namespace gangway::api
