// What a document of an input is to the translator. Internal to this room.
#pragma once

#include <cstdint>
#include <optional>

#include "api/manifest/manifest.h"
#include "translator/convert/codes.h"

namespace gangway::convert {

enum class DocumentKind : std::uint8_t {
  kOther,        // passed on
  kPaddleJob,    // of paddle-operator
  kKubeflowJob,  // PaddleJob of kubeflow.org
  kPodGroup,
  kVolcanoJob,
  kNamespace,
  kService,
  kConfigMap,
  kRecBackend,
  kRecConfig,  // PaddleRec's files
  kNone,       // cannot be translated: see RefusalOf
};

DocumentKind KindOf(const api::ManifestDocument& document);

// Why it is kNone, and what to do: documents that cannot be read, versions that never were, Paddle's other APIs, files
// that are no objects.
Finding RefusalOf(const api::ManifestDocument& document);

// Of kinds that are passed on although something is to be said of them: PaddleCloud's data sets.
std::optional<Finding> NoteOn(const api::ManifestDocument& document);

}  // namespace gangway::convert
