// GW_CHECK(condition): a broken invariant of our own ends the process; the restart is cheap.
#pragma once

namespace gangway {
// Prints "file:line: check failed: text" to standard error and aborts.
[[noreturn]] void CheckFailed(const char* file, int line, const char* text);
}  // namespace gangway

#define GW_CHECK(condition) \
  (static_cast<bool>(condition) ? static_cast<void>(0) : ::gangway::CheckFailed(__FILE__, __LINE__, #condition))
