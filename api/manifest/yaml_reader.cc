// YAML's events into a tree. yaml-cpp throws; it is called in one place that catches.
#include <exception>
#include <istream>
#include <streambuf>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
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
  TreeBuilder(absl::string_view source, const ManifestLimits& limits, Tree& tree)
      : source_(source), limits_(limits), tree_(tree) {}

  const absl::Status& status() const { return status_; }

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
    Place(Remember(anchor, tree_.Add(Node::Kind::kLiteral, At(mark), "null")), At(mark));
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (!status_.ok()) return;
    const auto it = anchors_.find(anchor);
    if (it == anchors_.end()) return Fail(mark, "an alias without its anchor");
    if (!tree_.nodes[it->second].complete) return Fail(mark, "an alias to a value that contains it never ends; write the value out");
    Place(it->second, At(mark));
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, const std::string& value) override {
    if (!status_.ok()) return;
    if (tag == "?" && value == "<<" && ExpectsKey()) {
      return Fail(mark, "merge keys (<<) are not supported; write the fields out");
    }
    Node::Kind kind = Node::Kind::kString;
    std::string text;
    if (!ScalarText(mark, tag, value, kind, text)) return;
    Place(Remember(anchor, tree_.Add(kind, At(mark), std::move(text))), At(mark));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Open(mark, tag, "seq", anchor, Node::Kind::kList);
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
    Open(mark, tag, "map", anchor, Node::Kind::kMap);
  }
  void OnMapEnd() override { Close(); }

 private:
  // A list or map whose end has not been read.
  struct OpenNode {
    NodeId id = 0;
    bool has_key = false;
    std::string key;
    TextPosition key_at;
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
    Place(id, At(mark));
    if (status_.ok()) open_.emplace_back().id = id;
  }

  void Close() {
    if (!status_.ok() || open_.empty()) return;
    tree_.nodes[open_.back().id].complete = true;
    open_.pop_back();
  }

  // Puts a value where the open list or map expects one, or takes it as the next key.
  void Place(NodeId id, TextPosition at) {
    if (tree_.nodes.size() > limits_.max_nodes) {
      status_ = ErrorAt(source_, at, absl::StrCat("more than ", limits_.max_nodes, " values; split the file"),
                        absl::StatusCode::kResourceExhausted);
      return;
    }
    if (open_.empty()) {
      tree_.roots.push_back(id);
      return;
    }
    OpenNode& open = open_.back();
    Node& node = tree_.nodes[open.id];
    if (node.kind == Node::Kind::kList) {
      node.items.push_back(id);
    } else if (open.has_key) {
      node.entries.push_back({std::move(open.key), open.key_at, id});
      open.has_key = false;
    } else {
      TakeKey(open, tree_.nodes[id], at);
    }
  }

  void TakeKey(OpenNode& open, const Node& key, TextPosition at) {
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
    open.has_key = true;
  }

  const absl::string_view source_;
  const ManifestLimits& limits_;
  Tree& tree_;
  absl::Status status_;
  std::vector<OpenNode> open_;
  absl::flat_hash_map<YAML::anchor_t, NodeId> anchors_;
};

}  // namespace

absl::Status ReadYaml(absl::string_view text, absl::string_view source, const ManifestLimits& limits, Tree& tree) {
  TreeBuilder builder(source, limits, tree);
  try {
    ViewBuffer buffer(text);
    std::istream stream(&buffer);
    YAML::Parser parser(stream);
    while (builder.status().ok() && parser.HandleNextDocument(builder)) {
    }
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
