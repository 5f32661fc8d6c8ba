#include "base/counted.h"

#include "absl/strings/str_cat.h"

namespace gangway {

std::string Counted(std::int64_t count, absl::string_view what) {
  return absl::StrCat(count, " ", what, count == 1 ? "" : "s");
}

}  // namespace gangway
