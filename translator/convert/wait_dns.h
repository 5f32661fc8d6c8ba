// Names resolve before the program starts (docs/paddlejob.md): a program that asks once and dies, as the Paddle runtime
// does, would otherwise be at the mercy of the cluster's DNS. Never for ports: with Gloo on, server 0 opens its port
// only after the workers have registered.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/string_view.h"
#include "boost/json/fwd.hpp"

namespace gangway::convert {

inline constexpr std::string_view kWaitContainer = "wait-dns";

// An init container that waits until all `names` resolve, at most 600 s. It takes after `main`: its image unless
// `image` is given, what it may do, and cpu and memory, so that the pod needs no more than before. In the storage of
// `main`. `indexed_job`: as in TemplateFacts.
boost::json::object WaitContainer(const boost::json::object& main, absl::string_view image,
                                  const std::vector<std::string>& names, absl::string_view indexed_job = {});

}  // namespace gangway::convert
