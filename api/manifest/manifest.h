// Job files: YAML and JSON, several documents in one, into JSON bytes and a map of lines.
//
// YAML means what it means to Kubernetes (sigs.k8s.io/yaml): yes, on and y are booleans, 010 is eight, a quoted scalar
// stays a string, a date is a string, keys become strings. Aliases are followed, within the budgets. Refused, with
// line, column and what to write instead: keys that stand twice, merge keys (<<), tags other than YAML's own, .nan and
// .inf, control characters, bytes that are no UTF-8.
//
// Pure; nothing throws out of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace gangway::api {

// Both count from one, columns in bytes.
struct TextPosition {
  int line = 0, column = 0;
  friend bool operator==(const TextPosition&, const TextPosition&) = default;
};

struct ManifestLimits {
  std::size_t max_bytes = 32u << 20;          // of a source
  std::size_t max_document_bytes = 3u << 20;  // of one document as JSON: what an API server accepts
  std::size_t max_nodes = 1'000'000;   // scalars, lists and maps of a source, those reached by aliases counted again
  int max_depth = 100;                 // lists and maps within each other
  std::size_t max_documents = 20'000;  // after lists are expanded
  bool quotes = true;                  // errors may quote the text; false where it holds secrets
};

struct ManifestDocument {
  std::string json;                         // compact, fields in the order written
  std::string source;                       // as given: "job.yaml"
  std::string api_version, kind, ns, name;  // "" when absent or no string

  // Where a field stands: "spec.tasks[1].replicas", "metadata.labels.app.kubernetes.io/name" or
  // "metadata.labels[a.b/c]". Of a field that is not there the nearest one around it; "" is the document itself. Reads
  // `json`: for messages, not for loops.
  TextPosition Find(absl::string_view path) const;
  // "job.yaml:12:5"
  std::string Where(absl::string_view path) const;

  // One for each value, by the offset in `json` where it starts; members stand where their keys do.
  struct Mark {
    std::uint32_t offset = 0;
    TextPosition at;
  };
  std::vector<Mark> marks;
  // Of ReadMixedManifest only: why the document cannot be read, in words that say what to do; "" of all that can.
  // `json` is null then, with the place as its own.
  std::string refusal = {};
};

// Objects of an API: every document is a map with apiVersion and kind, `kind: List` is replaced by its items, empty
// documents are left out. Errors are InvalidArgument (ResourceExhausted for a budget), "job.yaml: line 12, column 5:
// ...".
absl::StatusOr<std::vector<ManifestDocument>> ReadManifest(absl::string_view text, absl::string_view source,
                                                           const ManifestLimits& limits = {});

// For whoever judges each document by itself. A document that is refused for what is in it stands among the others with
// its refusal; the reading goes on behind the next line "---". A text that is no YAML or JSON, or is nested too deep,
// ends the source there, and so do ten documents that need too much. An error is one of the whole source: too large, or
// no UTF-8. Maps that have neither apiVersion nor kind are taken as they are: files of PaddleRec's. `text` is the
// source's own when such a map is all that is in it, else empty: what was written around the values may matter to
// whoever gets the file.
struct MixedDocument {
  ManifestDocument document;
  std::string text;
};
absl::StatusOr<std::vector<MixedDocument>> ReadMixedManifest(absl::string_view text, absl::string_view source,
                                                             const ManifestLimits& limits = {});

// Any documents, without these demands.
absl::StatusOr<std::vector<ManifestDocument>> ReadDocuments(absl::string_view text, absl::string_view source,
                                                            const ManifestLimits& limits = {});

}  // namespace gangway::api
