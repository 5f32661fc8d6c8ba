#include "sandbox/rbac/bootstrap.h"

extern "C" const char gangway_bootstrap_roles_begin[];
extern "C" const char gangway_bootstrap_roles_end[];

namespace gangway::sandbox::rbac {

absl::string_view BootstrapObjects() {
  return {gangway_bootstrap_roles_begin,
          static_cast<std::size_t>(gangway_bootstrap_roles_end - gangway_bootstrap_roles_begin)};
}

}  // namespace gangway::sandbox::rbac
