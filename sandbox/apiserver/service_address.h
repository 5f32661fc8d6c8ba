// Where a service is reached: what the API server allocates and fills in for it.
#pragma once

#include <cstdint>

#include "absl/strings/string_view.h"
#include "boost/json/object.hpp"
#include "sandbox/apiserver/store/store.h"

namespace gangway::sandbox {

// Hands out 10.96.0.0/16, one after the other, without those that are taken.
class ServiceAddresses {
 public:
  // For a new service. One with an address of its own, without a head or outside of the cluster keeps what it says.
  void Give(const Store& store, boost::json::object& service);

 private:
  std::uint32_t last_ = 9;
};

// An update that says nothing of the address keeps it.
void KeepServiceAddress(absl::string_view subresource, const boost::json::object& before, boost::json::object& after);

}  // namespace gangway::sandbox
