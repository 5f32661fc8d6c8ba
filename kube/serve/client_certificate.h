#pragma once

#include <string>
#include <vector>

namespace gangway::kube {

// The certificate that a client has shown, for whom it was made.
struct ClientCertificate {
  std::string name;                 // CN
  std::vector<std::string> groups;  // O
  std::string fingerprint;          // SHA-256, in hexadecimal
  std::string wrong;                // why it is not to be believed; "": the authority has signed it
};

}  // namespace gangway::kube
