// Which mode a PaddleJob has and of which tasks its Job consists, from the roles that are written (docs/paddlejob.md;
// differs from paddle-operator in that a role of 0 pods is none).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "translator/convert/codes.h"
#include "translator/convert/names.h"

namespace gangway::convert {

enum class Mode : std::uint8_t { kServers, kCollective, kSingle };
// As status.mode has it: "PS", "Collective", "Single".
std::string_view ModeName(Mode mode);

// Replicas as written; a role that is not there is not one of 0.
struct Roles {
  std::optional<std::int32_t> ps = {}, worker = {}, heter = {};
  std::optional<std::int32_t> elastic = {};  // spec.elastic
};

struct Lineup {
  Mode mode = Mode::kSingle;
  bool elastic = false;         // then the mode is Collective, also while there is one worker
  std::vector<TaskSize> tasks;  // ps, worker, heter, as far as they have pods
  std::string completing_task;  // its success is the job's; "" when the job ends with the last pod of any task
  Findings findings;            // arranged; with an error the rest says nothing
};

// Pure. Errors: E-REPLICAS, E-EMPTY, E-HETER, E-ELASTIC.
Lineup LineUp(const Roles& roles);

}  // namespace gangway::convert
