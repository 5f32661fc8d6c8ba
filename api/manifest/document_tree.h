// What the two readers build: documents as trees whose branches aliases may share, each value with its place in the
// text.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "api/manifest/manifest.h"

namespace gangway::api::manifest {

using NodeId = std::uint32_t;

struct Entry {
  std::string key;
  TextPosition at;  // of the key
  NodeId value = 0;
};

struct Node {
  enum class Kind : std::uint8_t { kString, kLiteral, kMap, kList };
  Kind kind = Kind::kLiteral;
  bool complete = true;  // false while its end has not been read; an alias to it would be endless
  TextPosition at;
  std::string text;            // kString: the string; kLiteral: a JSON number, true, false or null
  std::vector<Entry> entries;  // kMap
  std::vector<NodeId> items;   // kList
};

// A document that is none, and why: an ErrorAt.
struct RefusedDocument {
  std::size_t before = 0;  // the root that follows it, an index
  absl::Status why;
};

// All documents of one source. Node ids are indexes.
struct Tree {
  std::vector<Node> nodes;
  std::vector<NodeId> roots;
  std::vector<RefusedDocument> refused;  // in their order

  NodeId Add(Node::Kind kind, TextPosition at, std::string text = {});
  // The member's value; nullptr when `map` is no map or has none.
  const Node* Member(const Node& map, absl::string_view key) const;
  // The member's text when it is a string.
  std::string TextOf(const Node& map, absl::string_view key) const;
};

// `job.yaml: line 12, column 5: <what>`
absl::Status ErrorAt(absl::string_view source, TextPosition at, absl::string_view what,
                     absl::StatusCode code = absl::StatusCode::kInvalidArgument);
// What went into an ErrorAt of this source.
struct Error {
  TextPosition at;
  std::string what;
};
Error ErrorOf(const absl::Status& error, absl::string_view source);

// Who asks for too much this often is not read on: each time costs what a whole source may.
inline constexpr int kMostExhausted = 10;

// Counts what is written of a source, over all its documents.
struct Budget {
  const ManifestLimits& limits;
  std::size_t nodes = 0;
};

// Writes the tree below `root` as JSON with its marks. Aliases are followed; the budget ends that.
absl::Status WriteDocument(const Tree& tree, NodeId root, absl::string_view source, Budget& budget,
                           ManifestDocument& out);

// The readers. On an error the tree is partly filled.
//
// `each`: documents that are refused go into tree.refused, and there is no error; text that is no YAML is the last of
// them.
absl::Status ReadYaml(absl::string_view text, absl::string_view source, const ManifestLimits& limits, bool each,
                      Tree& tree);
// One JSON value after another. `syntax` tells a text that is no JSON (it may still be YAML) from other errors.
absl::Status ReadJson(absl::string_view text, absl::string_view source, const ManifestLimits& limits, Tree& tree,
                      bool& syntax);

}  // namespace gangway::api::manifest
