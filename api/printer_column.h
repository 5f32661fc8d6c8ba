// A column of `kubectl get`: one of a CRD's additionalPrinterColumns.
#pragma once

#include <cstdint>
#include <string_view>

namespace gangway::api {

struct PrinterColumn {
  std::string_view name;
  std::string_view type;       // "string", "integer", "boolean", "date"
  std::string_view json_path;  // ".status.state.phase"; names and dots, and [-1:] for the last of a list
  std::int32_t priority = 0;   // beyond 0: only with -o wide
};

}  // namespace gangway::api
