#include "api/manifest/manifest.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "api/manifest/document_tree.h"
#include "base/status_macros.h"
#include "base/utf8.h"

namespace gangway::api {
namespace {

using manifest::ErrorAt;
using manifest::Node;
using manifest::NodeId;
using manifest::Tree;

TextPosition PositionOf(absl::string_view text, std::size_t offset) {
  TextPosition at{1, 1};
  for (std::size_t i = 0; i < offset; ++i) {
    ++at.column;
    if (text[i] == '\n') at = {at.line + 1, 1};
  }
  return at;
}

// What YAML does not allow in a text; `character` is one character of UTF-8.
bool IsControl(absl::string_view character) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
  switch (character.size()) {
    case 1:
      return (byte(0) < 0x20 && character != "\t" && character != "\n" && character != "\r") || byte(0) == 0x7F;
    case 2:
      return byte(0) == 0xC2 && byte(1) < 0xA0 && byte(1) != 0x85;
    case 3:
      return byte(0) == 0xEF && byte(1) == 0xBF && byte(2) >= 0xBE;
    default:
      return false;
  }
}

absl::Status CheckCharacters(absl::string_view text, absl::string_view source) {
  if (absl::StartsWith(text, "\xFE\xFF") || absl::StartsWith(text, "\xFF\xFE")) {
    return absl::InvalidArgumentError(absl::StrCat(source, ": this is UTF-16; save the file as UTF-8"));
  }
  for (std::size_t i = 0, length = 0; i < text.size(); i += length) {
    length = Utf8Length(text, i);
    if (length == 0) return ErrorAt(source, PositionOf(text, i), "the byte is no UTF-8; save the file as UTF-8");
    if (IsControl(text.substr(i, length))) {
      return ErrorAt(source, PositionOf(text, i),
                     absl::StrCat("the control character 0x", absl::BytesToHexString(text.substr(i, length)),
                                  " must not stand here; remove it, or write it as an escape in a quoted string"));
    }
  }
  return absl::OkStatus();
}

// JSON, or YAML that begins like JSON.
absl::Status ReadTree(absl::string_view text, absl::string_view source, const ManifestLimits& limits, bool each,
                      Tree& tree) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == absl::string_view::npos) return absl::OkStatus();
  if (text[first] == '{' || text[first] == '[') {
    bool syntax = false;
    absl::Status as_json = manifest::ReadJson(text, source, limits, tree, syntax);
    if (as_json.ok()) return as_json;
    const bool parted = absl::StrContains(text, "\n---");  // what stands behind such a line only YAML finds
    const bool may_be_yaml = !absl::EndsWith(source, ".json") && (syntax || (each && parted));
    Tree as_yaml;
    if (may_be_yaml && manifest::ReadYaml(text, source, limits, each, as_yaml).ok() &&
        (parted || as_yaml.refused.empty())) {
      tree = std::move(as_yaml);
      return absl::OkStatus();
    }
    if (!each) return as_json;
    tree.refused.push_back({tree.roots.size(), std::move(as_json)});
    return absl::OkStatus();
  }
  return manifest::ReadYaml(text, source, limits, each, tree);
}

// `each`: see ReadYaml.
absl::StatusOr<Tree> Read(absl::string_view text, absl::string_view source, const ManifestLimits& limits,
                          bool each = false) {
  if (text.size() > limits.max_bytes) {
    return absl::ResourceExhaustedError(absl::StrCat(source, ": ", text.size(), " bytes, more than the ",
                                                     limits.max_bytes, " that are read; split the file"));
  }
  absl::ConsumePrefix(&text, "\xEF\xBB\xBF");
  GW_RETURN_IF_ERROR(CheckCharacters(text, source));
  Tree tree;
  GW_RETURN_IF_ERROR(ReadTree(text, source, limits, each, tree));
  return tree;
}

bool IsNull(const Node& node) { return node.kind == Node::Kind::kLiteral && node.text == "null"; }

// Replaces lists by their items.
class Expansion {
 public:
  // `mixed`: maps that are no objects may stand beside objects.
  Expansion(const Tree& tree, absl::string_view source, const ManifestLimits& limits, bool mixed)
      : tree_(tree), source_(source), limits_(limits), mixed_(mixed) {}

  // Appends `id`, or the items of the list that it is, however deep.
  // An error is of `id` alone, not of what is expanded after it.
  absl::Status Expand(NodeId id, std::vector<NodeId>& out) {
    const std::size_t visited = visited_, expanded = out.size();
    const absl::Status status = Expand(id, 1, out);
    if (!status.ok()) {
      visited_ = visited;
      out.resize(expanded);
    }
    return status;
  }

 private:
  absl::Status Expand(NodeId id, int depth, std::vector<NodeId>& out) {
    const Node& node = tree_.nodes[id];
    if (IsNull(node)) return absl::OkStatus();
    if (mixed_ && depth == 1 && node.kind == Node::Kind::kMap && tree_.Member(node, "apiVersion") == nullptr &&
        tree_.Member(node, "kind") == nullptr) {
      out.push_back(id);
      return absl::OkStatus();
    }
    GW_RETURN_IF_ERROR(CheckIsObject(node));
    // Lists may share items through aliases, so it is the visits that are counted.
    if (++visited_ > limits_.max_documents || depth > limits_.max_depth) {
      return ErrorAt(source_, node.at,
                     absl::StrCat("more than ", limits_.max_documents, " objects, or more than ", limits_.max_depth,
                                  " lists within each other; split the file"),
                     absl::StatusCode::kResourceExhausted);
    }
    const Node* items = tree_.Member(node, "items");
    const bool list =
        absl::EndsWith(tree_.TextOf(node, "kind"), "List") && items != nullptr && items->kind == Node::Kind::kList;
    if (!list) {
      out.push_back(id);
      return absl::OkStatus();
    }
    for (const NodeId item : items->items) GW_RETURN_IF_ERROR(Expand(item, depth + 1, out));
    return absl::OkStatus();
  }

  absl::Status CheckIsObject(const Node& node) const {
    if (node.kind != Node::Kind::kMap)
      return ErrorAt(source_, node.at, "a document must be a map with apiVersion and kind");
    for (const absl::string_view key : {"apiVersion", "kind"}) {
      const Node* value = tree_.Member(node, key);
      if (value == nullptr || IsNull(*value)) {
        return ErrorAt(source_, node.at, absl::StrCat(key, " is missing; say what the document is"));
      }
      if (value->kind != Node::Kind::kString || value->text.empty()) {
        return ErrorAt(source_, value->at, absl::StrCat(key, " must be a string that is not empty"));
      }
    }
    return absl::OkStatus();
  }

  const Tree& tree_;
  const absl::string_view source_;
  const ManifestLimits& limits_;
  const bool mixed_;
  std::size_t visited_ = 0;
};

absl::StatusOr<std::vector<ManifestDocument>> Write(const Tree& tree, const std::vector<NodeId>& roots,
                                                    absl::string_view source, const ManifestLimits& limits) {
  std::vector<ManifestDocument> documents;
  documents.reserve(roots.size());
  manifest::Budget budget{limits};
  for (const NodeId root : roots) {
    GW_RETURN_IF_ERROR(manifest::WriteDocument(tree, root, source, budget, documents.emplace_back()));
  }
  return documents;
}

// Of each document by itself what it says, or why it is refused.
class EachDocument {
 public:
  EachDocument(const Tree& tree, absl::string_view source, const ManifestLimits& limits)
      : tree_(tree), source_(source), expansion_(tree, source, limits, /*mixed=*/true), budget_{limits} {}

  std::vector<ManifestDocument> Take() && {
    auto refused = tree_.refused.begin();
    for (std::size_t i = 0; i <= tree_.roots.size() && exhausted_ < manifest::kMostExhausted; ++i) {
      for (; refused != tree_.refused.end() && refused->before == i; ++refused) Refuse(refused->why);
      if (i < tree_.roots.size()) TakeRoot(tree_.roots[i]);
    }
    return std::move(out_);
  }

 private:
  void TakeRoot(NodeId root) {
    std::vector<NodeId> objects;
    if (const absl::Status status = expansion_.Expand(root, objects); !status.ok()) return Refuse(status);
    for (const NodeId object : objects) {
      ManifestDocument document;
      const std::size_t before = budget_.nodes;
      const absl::Status status = manifest::WriteDocument(tree_, object, source_, budget_, document);
      if (status.ok()) {
        out_.push_back(std::move(document));
      } else {
        budget_.nodes = before;
        Refuse(status);
        if (exhausted_ >= manifest::kMostExhausted) return;
      }
    }
  }

  void Refuse(const absl::Status& why) {
    if (absl::IsResourceExhausted(why)) ++exhausted_;
    manifest::Error error = manifest::ErrorOf(why, source_);
    ManifestDocument& document = out_.emplace_back();
    document.json = "null";
    document.source = std::string(source_);
    document.marks.push_back({0, error.at});
    document.refusal = std::move(error.what);
    if (exhausted_ == manifest::kMostExhausted)
      absl::StrAppend(&document.refusal, "; what stands behind it is not read: ten documents needed too much");
  }

  const Tree& tree_;
  const absl::string_view source_;
  Expansion expansion_;
  manifest::Budget budget_;
  int exhausted_ = 0;
  std::vector<ManifestDocument> out_;
};

}  // namespace

absl::StatusOr<std::vector<ManifestDocument>> ReadManifest(absl::string_view text, absl::string_view source,
                                                           const ManifestLimits& limits) {
  GW_ASSIGN_OR_RETURN(const Tree tree, Read(text, source, limits));
  std::vector<NodeId> roots;
  Expansion expansion(tree, source, limits, /*mixed=*/false);
  for (const NodeId root : tree.roots) GW_RETURN_IF_ERROR(expansion.Expand(root, roots));
  return Write(tree, roots, source, limits);
}

absl::StatusOr<std::vector<MixedDocument>> ReadMixedManifest(absl::string_view text, absl::string_view source,
                                                             const ManifestLimits& limits) {
  GW_ASSIGN_OR_RETURN(const Tree tree, Read(text, source, limits, /*each=*/true));
  std::vector<ManifestDocument> documents = EachDocument(tree, source, limits).Take();
  std::vector<MixedDocument> out;
  out.reserve(documents.size());
  for (ManifestDocument& document : documents) out.push_back({std::move(document), {}});
  if (out.size() == 1 && out[0].document.kind.empty() && out[0].document.refusal.empty())
    out[0].text = std::string(text);
  return out;
}

absl::StatusOr<std::vector<ManifestDocument>> ReadDocuments(absl::string_view text, absl::string_view source,
                                                            const ManifestLimits& limits) {
  GW_ASSIGN_OR_RETURN(const Tree tree, Read(text, source, limits));
  std::vector<NodeId> roots;
  for (const NodeId root : tree.roots) {
    if (!IsNull(tree.nodes[root])) roots.push_back(root);
  }
  return Write(tree, roots, source, limits);
}

}  // namespace gangway::api
