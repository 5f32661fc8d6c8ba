// What the README shows, as it stands there.
#pragma once

#include <string>
#include <vector>

namespace gangway::testutil {

struct Block {
  std::string kind, text;  // "sh": commands; "": what they print
};

// The blocks under a heading.
std::vector<Block> AllBlocksUnder(const std::string& heading);
// Those of commands.
std::vector<std::string> BlocksUnder(const std::string& heading);

}  // namespace gangway::testutil
