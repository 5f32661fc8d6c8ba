// YAML's events into a tree. yaml-cpp throws; it is called in one place that catches.
#include <algorithm>
#include <exception>
#include <istream>
#include <streambuf>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "api/manifest/document_tree.h"
#include "api/manifest/scalar.h"
#include "yaml-cpp/eventhandler.h"
#include "yaml-cpp/exceptions.h"
#include "yaml-cpp/mark.h"
#include "yaml-cpp/parser.h"

namespace gangway::api::manifest {
namespace {

constexpr absl::string_view kYamlTag = "tag:yaml.org,2002:";

TextPosition At(const YAML::Mark& mark) { return {mark.line + 1, mark.column + 1}; }

// The lines, counted from one, that end a document: those that begin with --- or with ....
std::vector<int> SeparatorLines(absl::string_view text) {
  std::vector<int> lines;
  int line = 0;
  for (const absl::string_view content : absl::StrSplit(text, '\n')) {
    ++line;
    if (absl::StartsWith(content, "---") || absl::StartsWith(content, "...")) lines.push_back(line);
  }
  return lines;
}

// Reads from a view without copying it.
class ViewBuffer : public std::streambuf {
 public:
  explicit ViewBuffer(absl::string_view text) {
    char* const begin = const_cast<char*>(text.data());  // setg() wants it; an istream only reads
    setg(begin, begin, begin + text.size());
  }
};

// The first error ends the building; later events are ignored, since throwing through the parser is not ours.
class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(absl::string_view text, absl::string_view source, const ManifestLimits& limits, Tree& tree)
      : text_(text), source_(source), limits_(limits), tree_(tree), separators_(SeparatorLines(text)) {}

  const absl::Status& status() const { return status_; }

  // After the last event: yaml-cpp takes the end of the text for a quote that is missing.
  void Finish() {
    if (!status_.ok() || last_scalar_.is_null()) return;
    absl::string_view rest = text_.substr(std::min(static_cast<std::size_t>(last_scalar_.pos), text_.size()));
    while (absl::StartsWith(rest, "!") || absl::StartsWith(rest, "&")) {
      rest = absl::StripLeadingAsciiWhitespace(rest.substr(std::min(rest.find_first_of(" \t\r\n"), rest.size())));
    }
    if (rest.empty() || (rest[0] != '"' && rest[0] != '\'')) return;
    for (std::size_t i = 1; i < rest.size(); ++i) {
      if (rest[0] == '"' && rest[i] == '\\') {
        ++i;
      } else if (rest[i] == rest[0]) {
        if (rest[0] == '"' || i + 1 == rest.size() || rest[i + 1] != '\'') return;
        ++i;  // '' is one quote
      }
    }
    Fail(last_scalar_, absl::StrCat("the closing ", rest.substr(0, 1), " is missing"));
  }

  void OnDocumentStart(const YAML::Mark&) override {
    anchors_.clear();
    open_.clear();
    if (status_.ok() && tree_.roots.size() >= limits_.max_documents) {
      status_ = absl::ResourceExhaustedError(absl::StrCat(source_, ": more than ", limits_.max_documents, " documents"));
    }
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (!status_.ok()) return;
    if (!open_.empty() && open_.back().block && open_.back().has_key && !ColonFollows(open_.back())) {
      status_ = ErrorAt(source_, open_.back().key_at, absl::StrCat("expected ':' after \"", open_.back().key, "\""));
      return;
    }
    Place(Remember(anchor, tree_.Add(Node::Kind::kLiteral, At(mark), "null")), At(mark), mark.pos);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (!status_.ok()) return;
    const auto it = anchors_.find(anchor);
    if (it == anchors_.end()) return Fail(mark, "an alias without its anchor");
    if (!tree_.nodes[it->second].complete) return Fail(mark, "an alias to a value that contains it never ends; write the value out");
    Place(it->second, At(mark), mark.pos);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, const std::string& value) override {
    if (!status_.ok()) return;
    if (tag == "?" && value == "<<" && ExpectsKey()) {
      return Fail(mark, "merge keys (<<) are not supported; write the fields out");
    }
    Node::Kind kind = Node::Kind::kString;
    std::string text;
    if (!ScalarText(mark, tag, value, kind, text)) return;
    last_scalar_ = mark;
    Place(Remember(anchor, tree_.Add(kind, At(mark), std::move(text))), At(mark), mark.pos);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Open(mark, tag, "seq", anchor, Node::Kind::kList);
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YAML::EmitterStyle::value style) override {
    Open(mark, tag, "map", anchor, Node::Kind::kMap);
    if (status_.ok()) open_.back().block = style == YAML::EmitterStyle::Block;
  }
  void OnMapEnd() override { Close(); }

 private:
  // A list or map whose end has not been read.
  struct OpenNode {
    NodeId id = 0;
    bool block = false;  // not in braces
    bool has_key = false;
    std::string key;
    TextPosition key_at;
    std::size_t key_offset = 0;
    absl::flat_hash_map<std::string, int> line_of_key;
  };

  void Fail(const YAML::Mark& mark, absl::string_view what) { status_ = ErrorAt(source_, At(mark), what); }

  bool ExpectsKey() const {
    return !open_.empty() && tree_.nodes[open_.back().id].kind == Node::Kind::kMap && !open_.back().has_key;
  }

  NodeId Remember(YAML::anchor_t anchor, NodeId id) {
    if (anchor != 0) anchors_[anchor] = id;
    return id;
  }

  bool ScalarText(const YAML::Mark& mark, absl::string_view tag, absl::string_view value, Node::Kind& kind, std::string& text) {
    const bool plain = tag == "?";
    absl::string_view wanted = tag;
    const bool standard = absl::ConsumePrefix(&wanted, kYamlTag);
    if (tag == "!" || (standard && (wanted == "str" || wanted == "timestamp"))) {
      text = std::string(value);
      return true;
    }
    if (!plain && !standard) return Refuse(mark, absl::StrCat("the tag ", tag, " means nothing to Kubernetes; remove it"));
    Scalar scalar = ResolveScalar(value);
    if (scalar.type == ScalarType::kNotFinite) return Refuse(mark, absl::StrCat(value, " cannot be said in JSON; quote it or use a number"));
    const bool fits = plain || (wanted == "int" && scalar.type == ScalarType::kInt) ||
                      (wanted == "float" && (scalar.type == ScalarType::kFloat || scalar.type == ScalarType::kInt)) ||
                      (wanted == "bool" && scalar.type == ScalarType::kBool) ||
                      (wanted == "null" && scalar.type == ScalarType::kNull);
    if (!fits) return Refuse(mark, absl::StrCat("\"", value, "\" is no !!", wanted, "; remove the tag or change the value"));
    if (scalar.type != ScalarType::kString) kind = Node::Kind::kLiteral;
    text = std::move(scalar.text);
    return true;
  }

  bool Refuse(const YAML::Mark& mark, absl::string_view what) {
    Fail(mark, what);
    return false;
  }

  void Open(const YAML::Mark& mark, const std::string& tag, absl::string_view standard, YAML::anchor_t anchor,
            Node::Kind kind) {
    if (!status_.ok()) return;
    if (tag != "?" && tag != "!" && !tag.empty() && tag != absl::StrCat(kYamlTag, standard)) {
      return Fail(mark, absl::StrCat("the tag ", tag, " means nothing to Kubernetes; remove it"));
    }
    if (ExpectsKey()) return Fail(mark, "a key must be a word or a number, not a list or a map");
    if (static_cast<int>(open_.size()) >= limits_.max_depth) {
      return Fail(mark, absl::StrCat("more than ", limits_.max_depth, " maps and lists within each other"));
    }
    const NodeId id = Remember(anchor, tree_.Add(kind, At(mark)));
    tree_.nodes[id].complete = false;
    Place(id, At(mark), mark.pos);
    if (status_.ok()) open_.emplace_back().id = id;
  }

  void Close() {
    if (!status_.ok() || open_.empty()) return;
    tree_.nodes[open_.back().id].complete = true;
    open_.pop_back();
  }

  // Puts a value where the open list or map expects one, or takes it as the next key.
  void Place(NodeId id, TextPosition at, int offset) {
    if (tree_.nodes.size() > limits_.max_nodes) {
      status_ = ErrorAt(source_, at, absl::StrCat("more than ", limits_.max_nodes, " values; split the file"),
                        absl::StatusCode::kResourceExhausted);
      return;
    }
    if (open_.empty()) return PlaceRoot(id, at);
    OpenNode& open = open_.back();
    Node& node = tree_.nodes[open.id];
    if (node.kind == Node::Kind::kList) {
      node.items.push_back(id);
    } else if (open.has_key) {
      node.entries.push_back({std::move(open.key), open.key_at, id});
      open.has_key = false;
    } else {
      TakeKey(open, tree_.nodes[id], at, offset);
    }
  }

  // yaml-cpp begins a new document at a line that is indented less than the one above and fits nowhere.
  void PlaceRoot(NodeId id, TextPosition at) {
    tree_.roots.push_back(id);
    const Node& node = tree_.nodes[id];
    if (node.kind == Node::Kind::kLiteral && node.text == "null") return;  // an empty document has no place of its own
    const auto separator = std::upper_bound(separators_.begin(), separators_.end(), last_root_line_);
    if (last_root_line_ > 0 && (separator == separators_.end() || *separator > at.line)) {
      status_ = ErrorAt(source_, at, "this does not belong to the document above; check the indentation, or begin a new one with ---");
    }
    last_root_line_ = at.line;
  }

  // yaml-cpp takes a last line without colon for a key without value.
  bool ColonFollows(const OpenNode& open) const {
    const absl::string_view behind = text_.substr(std::min(open.key_offset, text_.size()));
    if (!absl::StartsWith(behind, open.key)) return true;  // in quotes, or an alias: then there was one
    const absl::string_view rest = absl::StripLeadingAsciiWhitespace(behind.substr(open.key.size()));
    return absl::StartsWith(rest, ":");
  }

  void TakeKey(OpenNode& open, const Node& key, TextPosition at, int offset) {
    if (key.kind == Node::Kind::kMap || key.kind == Node::Kind::kList) {
      status_ = ErrorAt(source_, at, "a key must be a word or a number, not a list or a map");
      return;
    }
    if (key.kind == Node::Kind::kLiteral && key.text == "null") {
      status_ = ErrorAt(source_, at, "a key is missing; quote it if it is meant to be empty or \"null\"");
      return;
    }
    const auto [it, fresh] = open.line_of_key.try_emplace(key.text, at.line);
    if (!fresh) {
      status_ = ErrorAt(source_, at, absl::StrCat("the key \"", key.text, "\" stands twice in one map, first in line ",
                                                  it->second, "; remove one"));
      return;
    }
    open.key = key.text;
    open.key_at = at;
    open.key_offset = static_cast<std::size_t>(std::max(offset, 0));
    open.has_key = true;
  }

  const absl::string_view text_;
  const absl::string_view source_;
  const ManifestLimits& limits_;
  Tree& tree_;
  absl::Status status_;
  YAML::Mark last_scalar_ = YAML::Mark::null_mark();
  int last_root_line_ = 0;
  std::vector<OpenNode> open_;
  absl::flat_hash_map<YAML::anchor_t, NodeId> anchors_;
  const std::vector<int> separators_;
};

}  // namespace

absl::Status ReadYaml(absl::string_view text, absl::string_view source, const ManifestLimits& limits, Tree& tree) {
  TreeBuilder builder(text, source, limits, tree);
  try {
    ViewBuffer buffer(text);
    std::istream stream(&buffer);
    YAML::Parser parser(stream);
    while (builder.status().ok() && parser.HandleNextDocument(builder)) {
    }
    builder.Finish();
  } catch (const YAML::Exception& e) {
    if (!builder.status().ok()) return builder.status();
    if (e.mark.is_null()) return absl::InvalidArgumentError(absl::StrCat(source, ": ", e.msg));
    return ErrorAt(source, At(e.mark), e.msg);
  } catch (const std::exception& e) {
    return absl::InvalidArgumentError(absl::StrCat(source, ": cannot be read as YAML: ", e.what()));
  }
  return builder.status();
}

}  // namespace gangway::api::manifest
