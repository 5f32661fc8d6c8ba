#include "base/system_error.h"

#include <cstring>

#include "absl/strings/str_cat.h"

namespace gangway {

absl::Status SystemError(absl::string_view what, int error) {
  return absl::UnavailableError(absl::StrCat(what, ": ", std::strerror(error)));
}

}  // namespace gangway
