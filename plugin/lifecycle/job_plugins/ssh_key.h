// A key pair for the job plugin ssh.
#pragma once

#include <string>

namespace gangway::lifecycle {

// Made at the edge (plugin/controller/ssh_keys.h): a decision draws nothing from chance. Never logged, never in an
// event.
struct SshKeyPair {
  std::string private_key;  // PEM, PKCS#1
  std::string public_key;   // a line of authorized_keys, with its newline
};

}  // namespace gangway::lifecycle
