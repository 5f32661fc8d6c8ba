// Flags of job plugins, as Go's flag package reads them (Volcano: pkg/controllers/job/plugins).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <variant>
#include <vector>

namespace gangway::lifecycle {

struct PluginFlag {
  const char* name;
  std::variant<bool*, std::int64_t*, std::string*> value;  // where it goes; holds the default until it is read
};

// Whether what is said about a flag may show its value. Of secret ones only a name is shown.
enum class FlagValues { kShown, kSecret };

// -name or --name; =value, or for all but booleans the next text; a boolean without a value is true. The first text
// that is no flag, or
// "--", ends the reading. So does one that does not read: what was read before it stays, and the answer says what is
// wrong with it.
std::string ReadFlags(const std::vector<std::string>& texts, std::initializer_list<PluginFlag> known,
                      FlagValues values = FlagValues::kShown);

}  // namespace gangway::lifecycle
