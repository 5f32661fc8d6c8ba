// Network devices and addresses of the network namespace that the thread is in, over rtnetlink(7).
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace gangway::sandbox {

// Opened in one namespace, and of it from then on, wherever the thread goes.
class Links {
 public:
  Links();
  ~Links();
  Links(const Links&) = delete;
  Links& operator=(const Links&) = delete;

  absl::Status AddBridge(const std::string& name);
  // A pair of devices: `name` here, in `bridge`, and `peer` in the namespace behind a file descriptor.
  absl::Status AddPair(const std::string& name, const std::string& bridge, const std::string& peer, int peer_namespace);
  absl::Status SetUp(const std::string& name);
  // An IPv4 address; one that is there already is fine.
  absl::Status AddAddress(const std::string& name, const std::string& ip, int prefix);

 private:
  // Sends a request and reads its answer; `error` names what it was about.
  absl::Status Ask(std::string request, absl::string_view doing, int forgiven = 0);
  // 0: there is no such device.
  std::uint32_t IndexOf(const std::string& name) const;

  int fd_ = -1;
};

}  // namespace gangway::sandbox
