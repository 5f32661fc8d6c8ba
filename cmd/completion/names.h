// What a word of the command line names, and the names there are in the cluster.
#pragma once

#include <string>
#include <vector>

#include "api/resource.h"
#include "cmd/terminal/command_line.h"

namespace gangway::cmd {

struct Sought {
  const api::Resource* resource = nullptr;  // whose names; null: nobody's
  std::vector<std::string> words;           // beside them
  bool files = false;
};
// Of where the command line ends. Pure.
Sought SoughtAt(const Completion& at);

// The names in the namespace, or context's, that the typed flags say; none when nobody answers in two seconds.
std::vector<std::string> NamesOf(const api::Resource& resource, const std::vector<std::string>& typed);

}  // namespace gangway::cmd
