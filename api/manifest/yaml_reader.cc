// YAML into a tree, by the events of libyaml: the parser that Kubernetes' own (goyaml) was translated from, so that
// both read the same.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <yaml.h>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "api/manifest/document_tree.h"
#include "api/manifest/scalar.h"
#include "base/check.h"
#include "base/utf8.h"

namespace gangway::api::manifest {
namespace {

constexpr absl::string_view kYamlTag = "tag:yaml.org,2002:";

// libyaml counts characters, we count bytes.
class Positions {
 public:
  explicit Positions(absl::string_view text) : text_(text) {
    starts_.push_back(0);
    for (std::size_t i = 0; i < text.size(); ++i) {
      const auto byte = static_cast<unsigned char>(text[i]);
      if (byte < 0x80 && byte != '\n' && byte != '\r') continue;
      const std::size_t length = BreakAt(i);
      if (length > 0) {
        i += length - 1;
        starts_.push_back(i + 1);
      }
      plain_ = plain_ && static_cast<unsigned char>(text[i]) < 0x80;
    }
  }

  TextPosition Of(const yaml_mark_t& mark) {
    const int line = static_cast<int>(mark.line);
    if (plain_) return {line + 1, static_cast<int>(mark.column) + 1};
    return {line + 1, static_cast<int>(OffsetOf(mark) - starts_[std::min(mark.line, starts_.size() - 1)]) + 1};
  }

  std::size_t OffsetOf(const yaml_mark_t& mark) {
    if (mark.line >= starts_.size()) return text_.size();
    if (plain_) return std::min(starts_[mark.line] + mark.column, text_.size());
    // Marks come in the text's order but for a few: the walk goes on where the last one ended.
    if (mark.line != line_ || mark.column < column_) {
      line_ = mark.line;
      column_ = 0;
      offset_ = starts_[line_];
    }
    for (; column_ < mark.column && offset_ < text_.size(); ++column_)
      offset_ += std::max<std::size_t>(Utf8Length(text_, offset_), 1);
    return offset_;
  }

 private:
  // The length of the line break at `i`, as libyaml sees it; 0 when there is none.
  std::size_t BreakAt(std::size_t i) const {
    const absl::string_view rest = text_.substr(i, 3);
    if (rest[0] == '\n') return 1;
    if (rest[0] == '\r') return absl::StartsWith(rest, "\r\n") ? 2 : 1;
    if (absl::StartsWith(rest, "\xC2\x85")) return 2;
    return rest == "\xE2\x80\xA8" || rest == "\xE2\x80\xA9" ? 3 : 0;
  }

  const absl::string_view text_;
  std::vector<std::size_t> starts_;  // of lines
  bool plain_ = true;                // one byte each
  std::size_t line_ = 0, column_ = 0, offset_ = 0;
};

struct Event {
  yaml_event_t event{};
  Event() = default;
  ~Event() { yaml_event_delete(&event); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
};

struct Parser {
  yaml_parser_t parser{};
  explicit Parser(absl::string_view text) {
    GW_CHECK(yaml_parser_initialize(&parser) == 1);  // fails for want of memory only
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  }
  ~Parser() { yaml_parser_delete(&parser); }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;
};

absl::string_view TextOf(const yaml_char_t* text) {
  return text == nullptr ? absl::string_view() : absl::string_view(reinterpret_cast<const char*>(text));
}

// The first error ends the building, unless the document is skipped.
class TreeBuilder {
 public:
  TreeBuilder(absl::string_view text, absl::string_view source, const ManifestLimits& limits, Tree& tree)
      : text_(text), source_(source), limits_(limits), tree_(tree), positions_(text) {}

  const absl::Status& status() const { return status_; }

  void Handle(const yaml_event_t& event) {
    at_ = positions_.Of(event.start_mark);
    if (skips_) return Skip(event.type);
    switch (event.type) {
      case YAML_DOCUMENT_START_EVENT:
        return BeginDocument();
      case YAML_ALIAS_EVENT:
        return Alias(TextOf(event.data.alias.anchor));
      case YAML_SCALAR_EVENT:
        return Scalar(event);
      case YAML_SEQUENCE_START_EVENT:
        return Open(TextOf(event.data.sequence_start.tag), "seq", TextOf(event.data.sequence_start.anchor),
                    Node::Kind::kList);
      case YAML_MAPPING_START_EVENT:
        return Open(TextOf(event.data.mapping_start.tag), "map", TextOf(event.data.mapping_start.anchor),
                    Node::Kind::kMap);
      case YAML_SEQUENCE_END_EVENT:
      case YAML_MAPPING_END_EVENT:
        return Close();
      case YAML_NO_EVENT:
      case YAML_STREAM_START_EVENT:
      case YAML_STREAM_END_EVENT:
      case YAML_DOCUMENT_END_EVENT:
        return;
    }
  }

  // Leaves the document at hand out, with its nodes: aliases of others do not reach them.
  void Refuse(absl::Status why) {
    if (!skips_) {
      tree_.nodes.resize(first_node_);
      tree_.roots.resize(first_root_);
    }
    if (absl::IsResourceExhausted(why)) ++exhausted_;
    tree_.refused.push_back({tree_.roots.size(), std::move(why)});
    status_ = absl::OkStatus();
    skips_ = true;
    skipped_depth_ = 0;
  }
  // Nothing more is read.
  bool ended() const { return ended_ || exhausted_ >= kMostExhausted; }

  // What the parser has against the text, in words that say what to do.
  absl::Status Complaint(const yaml_parser_t& parser) {
    const absl::string_view problem = parser.problem == nullptr ? "this is no YAML" : parser.problem;
    const absl::string_view context = parser.context == nullptr ? "" : parser.context;
    const std::size_t begin = positions_.OffsetOf(parser.context_mark);
    if (problem == "could not find expected ':'" && begin < text_.size()) {
      if (!limits_.quotes) return ErrorAt(source_, positions_.Of(parser.context_mark), "expected ':' in this line");
      const absl::string_view line =
          text_.substr(begin, std::min(text_.find_first_of("\r\n", begin), text_.size()) - begin);
      return ErrorAt(source_, positions_.Of(parser.context_mark),
                     absl::StrCat("expected ':' after \"", absl::StripTrailingAsciiWhitespace(line), "\""));
    }
    if (context == "while scanning a quoted scalar" && absl::StartsWith(problem, "found unexpected") &&
        begin < text_.size()) {
      return ErrorAt(source_, positions_.Of(parser.context_mark),
                     absl::StrCat("the closing ", text_.substr(begin, 1), " is missing"));
    }
    const TextPosition at = positions_.Of(parser.problem_mark);
    if (problem == "did not find expected <document start>") {
      return ErrorAt(source_, at,
                     "this does not belong to the document above; check the indentation, or begin a new one with ---");
    }
    return ErrorAt(source_, at, absl::StrCat(problem, context.empty() ? "" : " ", context));
  }

 private:
  // A list or map whose end has not been read.
  struct OpenNode {
    NodeId id = 0;
    bool has_key = false;
    std::string key;
    TextPosition key_at;
    absl::flat_hash_map<std::string, int> line_of_key;
  };

  void Fail(absl::string_view what) { status_ = ErrorAt(source_, at_, what); }

  void Skip(yaml_event_type_t type) {
    if (type == YAML_DOCUMENT_END_EVENT) skips_ = false;
    if (type == YAML_SEQUENCE_END_EVENT || type == YAML_MAPPING_END_EVENT) --skipped_depth_;
    if (type == YAML_SEQUENCE_START_EVENT || type == YAML_MAPPING_START_EVENT) ++skipped_depth_;
    if (skipped_depth_ > limits_.max_depth) FailTooDeep();
  }

  // libyaml's time grows with the square of the depth, so what is too deep is not read to its end.
  void FailTooDeep() {
    Fail(absl::StrCat("more than ", limits_.max_depth, " maps and lists within each other"));
    ended_ = true;
  }

  void BeginDocument() {
    anchors_.clear();
    open_.clear();
    first_node_ = tree_.nodes.size();
    first_root_ = tree_.roots.size();
    if (tree_.roots.size() + tree_.refused.size() >= limits_.max_documents) {
      status_ = ErrorAt(source_, at_, absl::StrCat("more than ", limits_.max_documents, " documents"),
                        absl::StatusCode::kResourceExhausted);
      ended_ = true;
    }
  }

  bool ExpectsKey() const {
    return !open_.empty() && tree_.nodes[open_.back().id].kind == Node::Kind::kMap && !open_.back().has_key;
  }

  NodeId Remember(absl::string_view anchor, NodeId id) {
    if (!anchor.empty()) anchors_[anchor] = id;
    return id;
  }

  void Alias(absl::string_view anchor) {
    const auto it = anchors_.find(anchor);
    if (it == anchors_.end()) return Fail("an alias without its anchor");
    if (!tree_.nodes[it->second].complete)
      return Fail("an alias to a value that contains it never ends; write the value out");
    Place(it->second);
  }

  void Scalar(const yaml_event_t& event) {
    const auto& scalar = event.data.scalar;
    const absl::string_view value(reinterpret_cast<const char*>(scalar.value), scalar.length), tag = TextOf(scalar.tag);
    const bool plain = tag.empty() && scalar.plain_implicit != 0;
    if (plain && value == "<<" && ExpectsKey()) return Fail("merge keys (<<) are not supported; write the fields out");
    Node::Kind kind = Node::Kind::kString;
    std::string text;
    if (!ScalarText(plain, tag, value, kind, text)) return;
    Place(Remember(TextOf(scalar.anchor), tree_.Add(kind, at_, std::move(text))));
  }

  bool ScalarText(bool plain, absl::string_view tag, absl::string_view value, Node::Kind& kind, std::string& text) {
    absl::string_view wanted = tag;
    const bool standard = absl::ConsumePrefix(&wanted, kYamlTag);
    if ((tag.empty() && !plain) || tag == "!" || (standard && (wanted == "str" || wanted == "timestamp"))) {
      text = std::string(value);
      return true;
    }
    if (!tag.empty() && !standard)
      return Fails(absl::StrCat("the tag ", tag, " means nothing to Kubernetes; remove it"));
    manifest::Scalar scalar = ResolveScalar(value);
    if (scalar.type == ScalarType::kNotFinite)
      return Fails(absl::StrCat(value, " cannot be said in JSON; quote it or use a number"));  // .inf, .nan
    const bool fits = tag.empty() || (wanted == "int" && scalar.type == ScalarType::kInt) ||
                      (wanted == "float" && (scalar.type == ScalarType::kFloat || scalar.type == ScalarType::kInt)) ||
                      (wanted == "bool" && scalar.type == ScalarType::kBool) ||
                      (wanted == "null" && scalar.type == ScalarType::kNull);
    if (!fits) {
      const std::string quoted = limits_.quotes ? absl::StrCat("\"", value, "\"") : "this";
      return Fails(absl::StrCat(quoted, " is no !!", wanted, "; remove the tag or change the value"));
    }
    if (scalar.type != ScalarType::kString) kind = Node::Kind::kLiteral;
    text = std::move(scalar.text);
    return true;
  }

  bool Fails(absl::string_view what) {
    Fail(what);
    return false;
  }

  void Open(absl::string_view tag, absl::string_view standard, absl::string_view anchor, Node::Kind kind) {
    if (!tag.empty() && tag != "!" && tag != absl::StrCat(kYamlTag, standard))
      return Fail(absl::StrCat("the tag ", tag, " means nothing to Kubernetes; remove it"));
    if (ExpectsKey()) return Fail("a key must be a word or a number, not a list or a map");
    if (static_cast<int>(open_.size()) >= limits_.max_depth) return FailTooDeep();
    const NodeId id = Remember(anchor, tree_.Add(kind, at_));
    tree_.nodes[id].complete = false;
    Place(id);
    if (status_.ok()) open_.emplace_back().id = id;
  }

  void Close() {
    tree_.nodes[open_.back().id].complete = true;
    open_.pop_back();
  }

  // Puts a value where the open list or map expects one, or takes it as the next key.
  void Place(NodeId id) {
    if (tree_.nodes.size() > limits_.max_nodes) {
      status_ = ErrorAt(source_, at_, absl::StrCat("more than ", limits_.max_nodes, " values; split the file"),
                        absl::StatusCode::kResourceExhausted);
      return;
    }
    if (open_.empty()) return tree_.roots.push_back(id);
    OpenNode& open = open_.back();
    Node& node = tree_.nodes[open.id];
    if (node.kind == Node::Kind::kList) {
      node.items.push_back(id);
    } else if (open.has_key) {
      node.entries.push_back({std::move(open.key), open.key_at, id});
      open.has_key = false;
    } else {
      TakeKey(open, node, tree_.nodes[id]);
    }
  }

  void TakeKey(OpenNode& open, const Node& map, const Node& key) {
    if (key.kind == Node::Kind::kMap || key.kind == Node::Kind::kList)
      return Fail("a key must be a word or a number, not a list or a map");
    if (key.kind == Node::Kind::kLiteral && key.text == "null")
      return Fail("a key is missing; quote it if it is meant to be empty or \"null\"");
    if (const int line = LineOf(open, map, key.text); line > 0) {
      return Fail(
          absl::StrCat("the key \"", key.text, "\" stands twice in one map, first in line ", line, "; remove one"));
    }
    open.key = key.text;
    open.key_at = at_;
    open.has_key = true;
  }

  // The line in which the map has the key already; 0: it has not. Most maps have a few keys, which are compared one by
  // one.
  static int LineOf(OpenNode& open, const Node& map, const std::string& key) {
    constexpr std::size_t kFew = 12;
    if (map.entries.size() < kFew) {
      for (const Entry& entry : map.entries) {
        if (entry.key == key) return entry.at.line;
      }
      return 0;
    }
    if (open.line_of_key.size() < map.entries.size()) {
      for (std::size_t i = open.line_of_key.size(); i < map.entries.size(); ++i)
        open.line_of_key.try_emplace(map.entries[i].key, map.entries[i].at.line);
    }
    const auto it = open.line_of_key.find(key);
    return it == open.line_of_key.end() ? 0 : it->second;
  }

  const absl::string_view text_;
  const absl::string_view source_;
  const ManifestLimits& limits_;
  Tree& tree_;
  Positions positions_;
  TextPosition at_;                              // of the event at hand
  std::size_t first_node_ = 0, first_root_ = 0;  // of the document at hand
  bool skips_ = false;                           // to the end of the document
  int skipped_depth_ = 0, exhausted_ = 0;
  bool ended_ = false;
  absl::Status status_;
  std::vector<OpenNode> open_;
  absl::flat_hash_map<std::string, NodeId> anchors_;
};

}  // namespace

absl::Status ReadYaml(absl::string_view text, absl::string_view source, const ManifestLimits& limits, bool each,
                      Tree& tree) {
  TreeBuilder builder(text, source, limits, tree);
  Parser parser(text);
  for (bool more = true; more;) {
    Event event;
    const bool parsed = yaml_parser_parse(&parser.parser, &event.event) != 0;
    if (parsed) builder.Handle(event.event);
    const absl::Status status = parsed ? builder.status() : builder.Complaint(parser.parser);
    if (!status.ok() && !each) return status;
    if (!status.ok()) builder.Refuse(status);
    more = parsed && event.event.type != YAML_STREAM_END_EVENT && !builder.ended();
  }
  return absl::OkStatus();
}

}  // namespace gangway::api::manifest
