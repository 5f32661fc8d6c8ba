#include "api/manifest/document_tree.h"

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "api/json.h"
#include "base/check.h"
#include "base/status_macros.h"

namespace gangway::api::manifest {
namespace {

class Writer {
 public:
  Writer(const Tree& tree, absl::string_view source, Budget& budget, ManifestDocument& out)
      : tree_(tree), source_(source), budget_(budget), out_(out) {}

  absl::Status Write(NodeId id, TextPosition at, int depth) {
    const Node& node = tree_.nodes[id];
    GW_RETURN_IF_ERROR(Count(at, depth));
    out_.marks.push_back({static_cast<std::uint32_t>(out_.json.size()), at});
    switch (node.kind) {
      case Node::Kind::kString:
        AppendJsonString(node.text, out_.json);
        return absl::OkStatus();
      case Node::Kind::kLiteral:
        out_.json += node.text;
        return absl::OkStatus();
      case Node::Kind::kMap:
        return WriteMap(node, depth);
      case Node::Kind::kList:
        return WriteList(node, depth);
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Count(TextPosition at, int depth) {
    const ManifestLimits& limits = budget_.limits;
    if (++budget_.nodes > limits.max_nodes) {
      return ErrorAt(
          source_, at,
          absl::StrCat("more than ", limits.max_nodes,
                       " values, those that aliases repeat counted again; split the file or use fewer aliases"),
          absl::StatusCode::kResourceExhausted);
    }
    if (depth > limits.max_depth) {
      return ErrorAt(source_, at, absl::StrCat("more than ", limits.max_depth, " maps and lists within each other"));
    }
    if (out_.json.size() > limits.max_document_bytes) {
      return ErrorAt(source_, at,
                     absl::StrCat("the document is more than ", limits.max_document_bytes,
                                  " bytes as JSON, which no API server accepts; split it"),
                     absl::StatusCode::kResourceExhausted);
    }
    return absl::OkStatus();
  }

  absl::Status WriteMap(const Node& node, int depth) {
    out_.json += '{';
    bool first = true;
    for (const Entry& entry : node.entries) {
      if (!first) out_.json += ',';
      first = false;
      AppendJsonString(entry.key, out_.json);
      out_.json += ':';
      GW_RETURN_IF_ERROR(Write(entry.value, entry.at, depth + 1));
    }
    out_.json += '}';
    return absl::OkStatus();
  }

  absl::Status WriteList(const Node& node, int depth) {
    out_.json += '[';
    bool first = true;
    for (const NodeId item : node.items) {
      if (!first) out_.json += ',';
      first = false;
      GW_RETURN_IF_ERROR(Write(item, tree_.nodes[item].at, depth + 1));
    }
    out_.json += ']';
    return absl::OkStatus();
  }

  const Tree& tree_;
  const absl::string_view source_;
  Budget& budget_;
  ManifestDocument& out_;
};

constexpr char kPlace[] = "gangway/place";  // of a status: LINE:COLUMN

std::string ErrorPrefix(absl::string_view source, TextPosition at) {
  return absl::StrCat(source, ": line ", at.line, ", column ", at.column, ": ");
}

}  // namespace

NodeId Tree::Add(Node::Kind kind, TextPosition at, std::string text) {
  Node& node = nodes.emplace_back();
  node.kind = kind;
  node.at = at;
  node.text = std::move(text);
  return static_cast<NodeId>(nodes.size() - 1);
}

const Node* Tree::Member(const Node& map, absl::string_view key) const {
  if (map.kind != Node::Kind::kMap) return nullptr;
  for (const Entry& entry : map.entries) {
    if (entry.key == key) return &nodes[entry.value];
  }
  return nullptr;
}

std::string Tree::TextOf(const Node& map, absl::string_view key) const {
  const Node* member = Member(map, key);
  return member != nullptr && member->kind == Node::Kind::kString ? member->text : std::string();
}

absl::Status ErrorAt(absl::string_view source, TextPosition at, absl::string_view what, absl::StatusCode code) {
  absl::Status error(code, absl::StrCat(ErrorPrefix(source, at), what));
  error.SetPayload(kPlace, absl::Cord(absl::StrCat(at.line, ":", at.column)));
  return error;
}

Error ErrorOf(const absl::Status& error, absl::string_view source) {
  Error out{{1, 1}, {}};
  if (const auto place = error.GetPayload(kPlace)) {
    const std::pair<std::string, std::string> parts = absl::StrSplit(std::string(*place), ':');
    GW_CHECK(absl::SimpleAtoi(parts.first, &out.at.line) && absl::SimpleAtoi(parts.second, &out.at.column));
  }
  absl::string_view what = error.message();
  absl::ConsumePrefix(&what, ErrorPrefix(source, out.at));
  out.what = std::string(what);
  return out;
}

absl::Status WriteDocument(const Tree& tree, NodeId root, absl::string_view source, Budget& budget,
                           ManifestDocument& out) {
  out.source = std::string(source);
  const Node& node = tree.nodes[root];
  GW_RETURN_IF_ERROR(Writer(tree, source, budget, out).Write(root, node.at, 1));
  if (out.json.size() > budget.limits.max_document_bytes) {
    return ErrorAt(source, node.at,
                   absl::StrCat("the document is ", out.json.size(), " bytes as JSON; an API server accepts ",
                                budget.limits.max_document_bytes, "; split it"),
                   absl::StatusCode::kResourceExhausted);
  }
  out.api_version = tree.TextOf(node, "apiVersion");
  out.kind = tree.TextOf(node, "kind");
  if (const Node* metadata = tree.Member(node, "metadata")) {
    out.ns = tree.TextOf(*metadata, "namespace");
    out.name = tree.TextOf(*metadata, "name");
  }
  return absl::OkStatus();
}

}  // namespace gangway::api::manifest
