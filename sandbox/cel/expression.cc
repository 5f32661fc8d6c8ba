#include "sandbox/cel/expression.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "api/json_value.h"
#include "base/utf8.h"
#include "boost/json.hpp"
#include "sandbox/apiserver/draft/draft.h"

namespace gangway::sandbox::cel {

namespace json = boost::json;

struct Expression::Node {
  enum class Kind {
    kLiteral,
    kName,
    kField,   // of[0].text
    kIndex,   // of[0][of[1]]
    kHas,     // has(of[0].text)
    kNot,     // !of[0]
    kMinus,   // -of[0]
    kBinary,  // of[0] text of[1]
    kIf,      // of[0] ? of[1] : of[2]
    kList,    // [of...]
    kCall,    // text(of[0]) or of[0].text(of[1])
    kMacro,   // of[0].text(variable, of[1])
  };
  Kind kind = Kind::kLiteral;
  std::string text, variable;
  json::value literal;
  std::vector<std::shared_ptr<const Node>> of;
};

namespace {

using Node = Expression::Node;
using NodePtr = std::shared_ptr<const Node>;

constexpr std::array<absl::string_view, 3> kTextMethods{"startsWith", "endsWith", "contains"};
constexpr std::array<absl::string_view, 3> kMacros{"all", "exists", "exists_one"};

template <class List>
bool IsIn(const List& list, absl::string_view text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

NodePtr Make(Node::Kind kind, std::string text, std::vector<NodePtr> of) {
  auto node = std::make_shared<Node>();
  node->kind = kind;
  node->text = std::move(text);
  node->of = std::move(of);
  return node;
}
NodePtr Literal(json::value value) {
  auto node = std::make_shared<Node>();
  node->literal = std::move(value);
  return node;
}

// Recursive descent over the bytes; the first mistake stays.
class Parser {
 public:
  Parser(absl::string_view text, absl::Span<const absl::string_view> known)
      : text_(text), known_(known.begin(), known.end()) {}

  absl::StatusOr<NodePtr> Whole() {
    NodePtr node = Conditional();
    SkipSpace();
    if (ok() && at_ < text_.size()) Fail(absl::StrCat("unexpected ", Here()));
    if (!ok()) return error_;
    return node;
  }

 private:
  bool ok() const { return error_.ok(); }
  std::string Here() const {
    if (at_ >= text_.size()) return "end";
    const std::size_t length = Utf8Length(text_, at_);
    if (length == 0) return absl::StrCat("byte 0x", absl::Hex(static_cast<unsigned char>(text_[at_])));
    return absl::StrCat("'", text_.substr(at_, length), "'");
  }
  NodePtr Fail(absl::string_view why) {
    if (ok()) error_ = absl::InvalidArgumentError(absl::StrCat("at byte ", at_, ": ", why));
    return Literal(nullptr);
  }

  void SkipSpace() {
    while (at_ < text_.size()) {
      if (absl::ascii_isspace(static_cast<unsigned char>(text_[at_]))) {
        ++at_;
      } else if (absl::StartsWith(text_.substr(at_), "//")) {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else {
        return;
      }
    }
  }
  bool Eat(absl::string_view sign) {
    SkipSpace();
    if (!ok() || !absl::StartsWith(text_.substr(at_), sign)) return false;
    at_ += sign.size();
    return true;
  }
  void Need(absl::string_view sign) {
    if (!Eat(sign)) Fail(absl::StrCat("expected '", sign, "', not ", Here()));
  }
  static bool StartsName(char c) { return absl::ascii_isalpha(static_cast<unsigned char>(c)) || c == '_'; }
  static bool InName(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_'; }
  std::string Name() {
    SkipSpace();
    if (at_ >= text_.size() || !StartsName(text_[at_])) {
      Fail(absl::StrCat("expected a name, not ", Here()));
      return {};
    }
    const std::size_t from = at_;
    while (at_ < text_.size() && InName(text_[at_])) ++at_;
    return std::string(text_.substr(from, at_ - from));
  }
  // The word `in`, and not the beginning of a longer one.
  bool EatIn() {
    SkipSpace();
    if (!absl::StartsWith(text_.substr(at_), "in") || (at_ + 2 < text_.size() && InName(text_[at_ + 2]))) return false;
    at_ += 2;
    return true;
  }

  NodePtr Conditional() {
    if (++depth_ > kMaxDepth) return Fail(absl::StrCat("deeper than ", kMaxDepth, " levels"));
    NodePtr node = Or();
    if (Eat("?")) {
      NodePtr then = Conditional();
      Need(":");
      NodePtr otherwise = Conditional();
      node = Make(Node::Kind::kIf, "", {std::move(node), std::move(then), std::move(otherwise)});
    }
    --depth_;
    return node;
  }
  NodePtr Or() {
    NodePtr node = And();
    while (ok() && Eat("||")) node = Pair("||", node, And());
    return node;
  }
  NodePtr And() {
    NodePtr node = Relation();
    while (ok() && Eat("&&")) node = Pair("&&", node, Relation());
    return node;
  }
  // Many in a row are a deep tree.
  NodePtr Pair(absl::string_view sign, NodePtr left, NodePtr right) {
    if (++operators_ > kMaxOperators) return Fail(absl::StrCat("more than ", kMaxOperators, " operators"));
    return Make(Node::Kind::kBinary, std::string(sign), {std::move(left), std::move(right)});
  }
  NodePtr Relation() {
    NodePtr node = Unary();
    while (ok()) {
      std::string sign;
      for (const absl::string_view each : {"==", "!=", "<=", ">=", "<", ">"}) {
        if (!Eat(each)) continue;
        sign = std::string(each);
        break;
      }
      if (sign.empty() && EatIn()) sign = "in";
      if (sign.empty()) {
        SkipSpace();
        if (at_ < text_.size() && absl::StrContains("+-*/%", text_[at_]))
          return Fail(absl::StrCat("the operator ", Here(), " is not evaluated here"));
        return node;
      }
      node = Pair(sign, node, Unary());
    }
    return node;
  }
  NodePtr Unary() {
    SkipSpace();
    if (++depth_ > kMaxDepth) return Fail(absl::StrCat("deeper than ", kMaxDepth, " levels"));
    NodePtr node;
    if (!absl::StartsWith(text_.substr(at_), "!=") && Eat("!")) {
      node = Make(Node::Kind::kNot, "", {Unary()});
    } else if (Eat("-")) {
      node = Make(Node::Kind::kMinus, "", {Unary()});
    } else {
      node = Member();
    }
    --depth_;
    return node;
  }
  NodePtr Member() {
    NodePtr node = Primary();
    int links = 0;
    while (ok()) {
      if (++links > kMaxDepth) return Fail(absl::StrCat("more than ", kMaxDepth, " steps into an object"));
      if (Eat("[")) {
        NodePtr index = Conditional();
        Need("]");
        node = Make(Node::Kind::kIndex, "", {node, std::move(index)});
      } else if (Eat(".")) {
        const std::string name = Name();
        node = Eat("(") ? Method(std::move(node), name) : Make(Node::Kind::kField, name, {node});
      } else {
        return node;
      }
    }
    return node;
  }
  NodePtr Method(NodePtr of, const std::string& name) {
    if (IsIn(kMacros, name)) {
      auto node = std::make_shared<Node>();
      node->kind = Node::Kind::kMacro;
      node->text = name;
      node->variable = Name();
      Need(",");
      known_.push_back(node->variable);
      NodePtr body = Conditional();
      known_.pop_back();
      node->of = {std::move(of), std::move(body)};
      Need(")");
      return node;
    }
    std::vector<NodePtr> operands{std::move(of)};
    if (IsIn(kTextMethods, name)) {
      operands.push_back(Conditional());
    } else if (name != "size") {
      return Fail(absl::StrCat("the function ", name, " is not evaluated here"));
    }
    Need(")");
    return Make(Node::Kind::kCall, name, std::move(operands));
  }
  NodePtr Primary() {
    SkipSpace();
    if (at_ >= text_.size()) return Fail("unexpected end");
    const char c = text_[at_];
    if (Eat("(")) {
      NodePtr node = Conditional();
      Need(")");
      return node;
    }
    if (Eat("[")) return List();
    if (c == '\'' || c == '"') return Text();
    if (absl::ascii_isdigit(static_cast<unsigned char>(c))) return Number();
    if (!StartsName(c)) return Fail(absl::StrCat("unexpected ", Here()));
    const std::size_t from = at_;
    const std::string name = Name();
    if (name == "true" || name == "false") return Literal(name == "true");
    if (name == "null") return Literal(nullptr);
    if (Eat("(")) return Function(name);
    if (std::find(known_.begin(), known_.end(), name) != known_.end()) return Make(Node::Kind::kName, name, {});
    at_ = from;
    return Fail(absl::StrCat("undeclared reference to '", name, "'"));
  }
  NodePtr Function(const std::string& name) {
    if (name != "has" && name != "size") return Fail(absl::StrCat("the function ", name, " is not evaluated here"));
    NodePtr operand = Conditional();
    Need(")");
    if (!ok()) return operand;
    if (name == "size") return Make(Node::Kind::kCall, name, {std::move(operand)});
    if (operand->kind != Node::Kind::kField) return Fail("invalid argument to has() macro");
    return Make(Node::Kind::kHas, operand->text, {operand->of[0]});
  }
  NodePtr List() {
    std::vector<NodePtr> items;
    if (Eat("]")) return Make(Node::Kind::kList, "", {});
    do {
      items.push_back(Conditional());
    } while (ok() && Eat(","));
    Need("]");
    return Make(Node::Kind::kList, "", std::move(items));
  }
  NodePtr Text() {
    const char quote = text_[at_++];
    std::string out;
    while (at_ < text_.size() && text_[at_] != quote) {
      if (text_[at_] == '\n') return Fail("a text ends in its line");
      if (text_[at_] == '\\') {
        static constexpr std::pair<char, char> kEscapes[] = {{'n', '\n'},  {'t', '\t'},  {'r', '\r'},
                                                             {'\\', '\\'}, {'\'', '\''}, {'"', '"'}};
        const char escaped = ++at_ < text_.size() ? text_[at_] : '\0';
        const auto* known = std::find_if(std::begin(kEscapes), std::end(kEscapes),
                                         [&](const auto& each) { return each.first == escaped; });
        if (known == std::end(kEscapes)) return Fail("an escape that is not read here");
        out.push_back(known->second);
        ++at_;
      } else {
        out.push_back(text_[at_++]);
      }
    }
    if (at_ >= text_.size()) return Fail("a text without its end");
    ++at_;
    return Literal(json::value(json::string_view(out)));
  }
  NodePtr Number() {
    const std::size_t from = at_;
    while (at_ < text_.size() && absl::ascii_isdigit(static_cast<unsigned char>(text_[at_]))) ++at_;
    std::int64_t value = 0;
    const bool read = absl::SimpleAtoi(text_.substr(from, at_ - from), &value);
    if (!read || (at_ < text_.size() && (InName(text_[at_]) || text_[at_] == '.')))
      return Fail("of numbers only integers are evaluated here");
    return Literal(value);
  }

  const absl::string_view text_;
  std::vector<std::string> known_;
  std::size_t at_ = 0;
  int depth_ = 0, operators_ = 0;
  absl::Status error_;
};

absl::Status NoOverload(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("no such overload: ", what));
}
absl::Status NoKey(absl::string_view key) { return absl::InvalidArgumentError(absl::StrCat("no such key: ", key)); }

// A value of the variables, or one that was made on the way.
class Value {
 public:
  Value() = default;
  static Value Of(const json::value* borrowed) {
    Value value;
    value.borrowed_ = borrowed;
    return value;
  }
  static Value Made(json::value made) {
    Value value;
    value.made_ = std::make_shared<const json::value>(std::move(made));
    value.borrowed_ = value.made_.get();
    return value;
  }
  const json::value& operator*() const { return *borrowed_; }
  const json::value* operator->() const { return borrowed_; }
  // A part of it, which lives as long as it does.
  Value Part(const json::value& part) const {
    Value value;
    value.made_ = made_;
    value.borrowed_ = &part;
    return value;
  }

 private:
  std::shared_ptr<const json::value> made_;
  const json::value* borrowed_ = nullptr;
};

class Evaluator {
 public:
  explicit Evaluator(const Variables& variables) : variables_(variables) {}

  absl::StatusOr<Value> Get(const Node& node) {
    if (!Pay(1)) return TooLong();
    switch (node.kind) {
      case Node::Kind::kLiteral:
        return Value::Of(&node.literal);
      case Node::Kind::kName:
        return Named(node.text);
      case Node::Kind::kField:
      case Node::Kind::kHas:
        return Field(node);
      case Node::Kind::kIndex:
        return Index(node);
      case Node::Kind::kNot: {
        absl::StatusOr<bool> operand = Truth(*node.of[0]);
        if (!operand.ok()) return operand.status();
        return Value::Made(!*operand);
      }
      case Node::Kind::kMinus: {
        absl::StatusOr<Value> operand = Get(*node.of[0]);
        if (!operand.ok()) return operand;
        if (!(*operand)->is_int64()) return NoOverload("-");
        // Of the smallest there is no opposite; wrapping is what the machine does.
        return Value::Made(static_cast<std::int64_t>(0 - static_cast<std::uint64_t>((*operand)->get_int64())));
      }
      case Node::Kind::kBinary:
        return Binary(node);
      case Node::Kind::kIf: {
        absl::StatusOr<bool> condition = Truth(*node.of[0]);
        if (!condition.ok()) return condition.status();
        return Get(*node.of[*condition ? 1 : 2]);
      }
      case Node::Kind::kList: {
        json::array list;
        for (const NodePtr& each : node.of) {
          absl::StatusOr<Value> item = Get(*each);
          if (!item.ok()) return item;
          if (!PayFor(**item)) return TooLong();
          list.push_back(**item);
        }
        return Value::Made(std::move(list));
      }
      case Node::Kind::kCall:
        return Call(node);
      case Node::Kind::kMacro:
        return Macro(node);
    }
    return NoOverload("");
  }

  absl::StatusOr<bool> Truth(const Node& node) {
    absl::StatusOr<Value> value = Get(node);
    if (!value.ok()) return value.status();
    if (!(*value)->is_bool()) return NoOverload("a condition must be a truth");
    return (*value)->get_bool();
  }

 private:
  static absl::Status TooLong() { return absl::ResourceExhaustedError("the expression takes too long"); }
  // What is looked at, false when it is too much: a step of the expression, a value, some bytes of a text.
  bool Pay(std::size_t steps) {
    steps_ = std::min<std::size_t>(steps_ + std::min<std::size_t>(steps, kMaxSteps), kMaxSteps + 1);
    return steps_ <= kMaxSteps;
  }
  // Of a value all of which is compared or copied.
  bool PayFor(const json::value& value) {
    constexpr std::size_t kBytesAStep = 64;
    if (value.is_string()) return Pay(1 + value.get_string().size() / kBytesAStep);
    if (value.is_array()) {
      const json::array& list = value.get_array();
      return Pay(1) && std::all_of(list.begin(), list.end(), [this](const json::value& each) { return PayFor(each); });
    }
    if (!value.is_object()) return Pay(1);
    const json::object& object = value.get_object();
    return Pay(1) && std::all_of(object.begin(), object.end(), [this](const auto& member) {
             return Pay(member.key().size() / kBytesAStep) && PayFor(member.value());
           });
  }

  Value Named(absl::string_view name) {
    static const json::value kNull;
    for (std::size_t i = bound_.size(); i-- > 0;) {
      if (bound_[i].first == name) return bound_[i].second;
    }
    const auto found = variables_.find(name);
    return Value::Of(found == variables_.end() || found->second == nullptr ? &kNull : found->second);
  }

  absl::StatusOr<Value> Field(const Node& node) {
    absl::StatusOr<Value> of = Get(*node.of[0]);
    if (!of.ok()) return of;
    if (!(*of)->is_object()) return NoKey(node.text);
    const json::value* const found = (*of)->get_object().if_contains(api::JsonView(node.text));
    // In JSON that an API server wrote null is absence.
    const bool there = found != nullptr && !found->is_null();
    if (node.kind == Node::Kind::kHas) return Value::Made(there);
    if (!there) return NoKey(node.text);
    return of->Part(*found);
  }

  absl::StatusOr<Value> Index(const Node& node) {
    absl::StatusOr<Value> of = Get(*node.of[0]);
    if (!of.ok()) return of;
    absl::StatusOr<Value> index = Get(*node.of[1]);
    if (!index.ok()) return index;
    if ((*of)->is_object() && (*index)->is_string()) {
      const json::value* const found = (*of)->get_object().if_contains((*index)->get_string());
      if (found == nullptr) return NoKey(api::AbslView((*index)->get_string()));
      return of->Part(*found);
    }
    if ((*of)->is_array() && (*index)->is_int64()) {
      const std::int64_t at = (*index)->get_int64();
      const json::array& list = (*of)->get_array();
      if (at < 0 || static_cast<std::uint64_t>(at) >= list.size())
        return absl::InvalidArgumentError(absl::StrCat("index out of bounds: ", at));
      return of->Part(list[static_cast<std::size_t>(at)]);
    }
    return NoOverload("_[_]");
  }

  // One side that decides makes up for what is wrong with the other.
  absl::StatusOr<Value> Junction(const Node& node, bool decides) {
    absl::StatusOr<bool> left = Truth(*node.of[0]);
    if (left.ok() && *left == decides) return Value::Made(decides);
    absl::StatusOr<bool> right = Truth(*node.of[1]);
    if (right.ok() && *right == decides) return Value::Made(decides);
    if (!left.ok()) return left.status();
    if (!right.ok()) return right.status();
    return Value::Made(!decides);
  }

  absl::StatusOr<Value> Binary(const Node& node) {
    if (node.text == "&&") return Junction(node, false);
    if (node.text == "||") return Junction(node, true);
    absl::StatusOr<Value> left = Get(*node.of[0]);
    if (!left.ok()) return left;
    absl::StatusOr<Value> right = Get(*node.of[1]);
    if (!right.ok()) return right;
    if (node.text == "==" || node.text == "!=") {
      if (!PayFor(**left)) return TooLong();
      return Value::Made(Equal(**left, **right) == (node.text == "=="));
    }
    if (node.text == "in") return IsMember(**left, **right);
    return Compare(node.text, **left, **right);
  }

  absl::StatusOr<Value> IsMember(const json::value& item, const json::value& of) {
    if (of.is_object()) return Value::Made(item.is_string() && of.get_object().contains(item.get_string()));
    if (!of.is_array()) return NoOverload("in");
    for (const json::value& each : of.get_array()) {
      if (!PayFor(each)) return TooLong();
      if (Equal(each, item)) return Value::Made(true);
    }
    return Value::Made(false);
  }

  absl::StatusOr<Value> Compare(absl::string_view sign, const json::value& a, const json::value& b) {
    if (!PayFor(a)) return TooLong();
    int order = 0;
    if (a.is_int64() && b.is_int64()) {
      order = a.get_int64() < b.get_int64() ? -1 : a.get_int64() > b.get_int64() ? 1 : 0;
    } else if (a.is_string() && b.is_string()) {
      order = a.get_string().compare(b.get_string());
    } else {
      return NoOverload(sign);
    }
    if (sign == "<") return Value::Made(order < 0);
    if (sign == "<=") return Value::Made(order <= 0);
    return Value::Made(sign == ">" ? order > 0 : order >= 0);
  }

  // Of texts as many as they have code points.
  static std::int64_t Length(absl::string_view text) {
    return std::count_if(text.begin(), text.end(),
                         [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
  }

  absl::StatusOr<Value> Call(const Node& node) {
    absl::StatusOr<Value> of = Get(*node.of[0]);
    if (!of.ok()) return of;
    if ((*of)->is_string() && !PayFor(**of)) return TooLong();
    if (node.text == "size") {
      if ((*of)->is_string()) return Value::Made(Length(api::AbslView((*of)->get_string())));
      if ((*of)->is_array()) return Value::Made(static_cast<std::int64_t>((*of)->get_array().size()));
      if ((*of)->is_object()) return Value::Made(static_cast<std::int64_t>((*of)->get_object().size()));
      return NoOverload("size");
    }
    absl::StatusOr<Value> part = Get(*node.of[1]);
    if (!part.ok()) return part;
    if (!(*of)->is_string() || !(*part)->is_string()) return NoOverload(node.text);
    const absl::string_view text = api::AbslView((*of)->get_string()), other = api::AbslView((*part)->get_string());
    if (node.text == "startsWith") return Value::Made(absl::StartsWith(text, other));
    if (node.text == "endsWith") return Value::Made(absl::EndsWith(text, other));
    return Value::Made(absl::StrContains(text, other));
  }

  absl::StatusOr<Value> Macro(const Node& node) {
    absl::StatusOr<Value> of = Get(*node.of[0]);
    if (!of.ok()) return of;
    std::vector<Value> items;
    const std::size_t size = (*of)->is_array()    ? (*of)->get_array().size()
                             : (*of)->is_object() ? (*of)->get_object().size()
                                                  : 0;
    if (!Pay(size)) return TooLong();
    if ((*of)->is_array()) {
      for (const json::value& each : (*of)->get_array()) items.push_back(of->Part(each));
    } else if ((*of)->is_object()) {
      for (const auto& member : (*of)->get_object()) items.push_back(Value::Made(member.key()));
    } else {
      return NoOverload(node.text);
    }
    int holding = 0;
    absl::Status wrong;
    for (const Value& item : items) {
      bound_.emplace_back(node.variable, item);
      const absl::StatusOr<bool> holds = Truth(*node.of[1]);
      bound_.pop_back();
      if (absl::IsResourceExhausted(holds.status())) return holds.status();
      if (!holds.ok()) {
        if (node.text == "exists_one") return holds.status();
        wrong.Update(holds.status());
        continue;
      }
      holding += *holds ? 1 : 0;
      if (node.text == "all" && !*holds) return Value::Made(false);
      if (node.text == "exists" && *holds) return Value::Made(true);
    }
    if (!wrong.ok()) return wrong;
    return Value::Made(node.text == "all" ? true : node.text == "exists" ? false : holding == 1);
  }

  const Variables& variables_;
  std::vector<std::pair<absl::string_view, Value>> bound_;  // by macros, the innermost last
  std::size_t steps_ = 0;
};

}  // namespace

absl::StatusOr<Expression> Expression::Parse(absl::string_view text, absl::Span<const absl::string_view> known) {
  if (text.size() > kMaxBytes) return absl::InvalidArgumentError(absl::StrCat("longer than ", kMaxBytes, " bytes"));
  absl::StatusOr<NodePtr> root = Parser(text, known).Whole();
  if (!root.ok()) return root.status();
  return Expression(*std::move(root));
}

absl::StatusOr<bool> Expression::Holds(const Variables& variables) const {
  Evaluator evaluator(variables);
  return evaluator.Truth(*root_);
}

}  // namespace gangway::sandbox::cel
