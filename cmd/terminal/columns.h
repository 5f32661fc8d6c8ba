// Tables on a terminal.
#pragma once

#include <string>
#include <vector>

namespace gangway::cmd {

// Rows of cells, each column as wide as its widest; the last one is not filled.
std::string Columns(const std::vector<std::vector<std::string>>& rows);

}  // namespace gangway::cmd
