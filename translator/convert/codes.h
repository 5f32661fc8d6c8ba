// What the translator says of a job: the codes, what each means and what to do (docs/translate.md), and one finding of
// one of them.
//
// A finding has the shape of every other complaint about a field (api/field_error.h), so that whoever has the manifest
// adds the line as for those: ManifestDocument::Find(finding.error.field).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "api/field_error.h"

namespace gangway::convert {

// With an error nothing is created; a warning says what will be otherwise than written; an info what is good to know.
enum class Level : std::uint8_t { kError, kWarning, kInfo };

// In the order of the table. They are public: logs, events and conditions carry their names.
enum class Code : std::uint8_t {
  kEmpty,
  kName,
  kNameLength,
  kReplicas,
  kMinAvailable,
  kEnum,
  kScheduler,
  kHeter,
  kElastic,
  kEnvTooLarge,
  kIp,
  kDns,
  kVolcanoOld,
  kPgClash,
  kSvcClash,
  kTwoControllers,
  kQueue,
  kNoContainer,
  kType,
  kUnknown,
  kRefused,
  kDuplicate,
  kKind,
  kYaml,
  kZeroReplicas,
  kUnused,
  kFinalizers,
  kLabel,
  kHostname,
  kRestartAlways,
  kPartialGang,
  kMinAvailableLow,
  kMinResources,
  kEnumIgnored,
  kGloo2,
  kElastic0,
  kClean,
  kSampleSet,
  kEnvReserved,
  kDnsChanged,
  kHostNodes,
  kPgDropped,
  kIstio,
  kExitCode,
  kBackoff,
  kDeadline,
  kGrace,
  kPolicy,
  kUnknownField,
  kDeprecated,
  kRetry,
  kShm,
  kPodIp,
  kNotInJobs,
  kPriority,
  kIntranet,
  kEnvUser,
  kRestart,
};

struct CodeEntry {
  Code code;
  std::string_view name;       // "E-NAME-LENGTH"
  api::FieldError::Type type;  // of errors
  std::string_view rule;       // what is so
  std::string_view fix;        // what to do; "" where nothing has to be done
  Level level() const { return name[0] == 'E' ? Level::kError : name[0] == 'W' ? Level::kWarning : Level::kInfo; }
};

// All of them, errors first.
absl::Span<const CodeEntry> Codes();
const CodeEntry& EntryOf(Code code);

struct Finding {
  Code code;
  api::FieldError error;  // `field` may be one that is not there: where it belongs
  Level level() const { return EntryOf(code).level(); }
  // `E-REPLICAS spec.worker.replicas: Invalid value: -1: must be at least 0 (leave the role out if it has no pods)`
  std::string ToString() const;
  friend bool operator==(const Finding&, const Finding&) = default;
};
using Findings = std::vector<Finding>;

// `value` is JSON, "" what is not worth repeating. An empty `rule` or `fix` is the table's.
Finding MakeFinding(Code code, absl::string_view field, absl::string_view value = {}, absl::string_view rule = {},
                    absl::string_view fix = {});

// The order in which they are told, whatever part found what first: errors, warnings, infos; within these by field,
// code and text. What was found twice stands once.
void Arrange(Findings& findings);
bool HasErrors(const Findings& findings);

}  // namespace gangway::convert
