#include "tests/readme/readme.h"

#include <utility>

#include "tests/testing/files.h"

namespace gangway::testutil {

std::vector<Block> AllBlocksUnder(const std::string& heading) {
  const std::string text = ReadFile(GW_SOURCE_DIR "/README.md");
  const std::size_t from = text.find("\n## " + heading + "\n");
  std::vector<Block> blocks;
  if (from == std::string::npos) return blocks;
  const std::size_t to = text.find("\n## ", from + 1);
  for (std::size_t at = text.find("\n```", from); at < to; at = text.find("\n```", at)) {
    const std::size_t begin = text.find('\n', at + 1) + 1, end = text.find("```", begin);
    blocks.push_back({text.substr(at + 4, begin - at - 5), text.substr(begin, end - begin)});
    at = end;
  }
  return blocks;
}

std::vector<std::string> BlocksUnder(const std::string& heading) {
  std::vector<std::string> commands;
  for (Block& block : AllBlocksUnder(heading))
    if (block.kind == "sh") commands.push_back(std::move(block.text));
  return commands;
}

}  // namespace gangway::testutil
