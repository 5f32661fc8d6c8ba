// What commands read with -f: files, the manifests right in a folder, standard input.
#pragma once

#include <string>
#include <vector>

#include "api/manifest/manifest.h"
#include "cmd/terminal/command_line.h"

namespace gangway::cmd {

// -f, required and repeatable.
void AddInputs(CommandLine command, std::vector<std::string>& inputs);

// Whatever can be read, in the order given; files of a folder by name. What cannot be is told in `unreadable`, one line
// each.
std::vector<api::MixedDocument> ReadInputs(const std::vector<std::string>& inputs,
                                           std::vector<std::string>& unreadable);

}  // namespace gangway::cmd
