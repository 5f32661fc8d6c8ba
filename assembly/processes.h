// What may be a process of its own.
#pragma once

#include <array>

#include "absl/strings/string_view.h"

namespace gangway::assembly {

struct ProcessRow {
  absl::string_view name;       // its client's in a journal
  absl::string_view component;  // app.kubernetes.io/component of what it runs as in deploy/
};
inline constexpr ProcessRow kControllers{"controllers", "controller"},
    kPaddleControllers{"paddle-controllers", "controller"}, kScheduler{"scheduler", "scheduler"};
inline constexpr std::array kProcesses{kControllers, kPaddleControllers, kScheduler};

}  // namespace gangway::assembly
