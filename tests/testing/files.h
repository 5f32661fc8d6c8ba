// Files of a test.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "base/check.h"

namespace gangway::testutil {

// A folder of its own under the system's temporary folder, removed with all that is in it; kept for a look when
// GW_KEEP_FOLDERS is set.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::string& name)
      : path_((std::filesystem::temp_directory_path() / (name + "-XXXXXX")).string()) {
    GW_CHECK(mkdtemp(path_.data()) != nullptr);
  }
  ~TemporaryFolder() {
    if (std::getenv("GW_KEEP_FOLDERS") != nullptr) return;
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// "" when there is none.
inline std::string ReadFile(const std::string& path, std::size_t from = 0) {
  std::ifstream file(path, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(from));
  return {std::istreambuf_iterator<char>(file), {}};
}

// In place at once, as a mounted secret changes.
inline void WriteFile(const std::string& path, const std::string& text) {
  const std::string fresh = path + ".new";
  std::ofstream file(fresh, std::ios::binary);
  file << text;
  file.close();
  GW_CHECK(file.good());
  std::filesystem::rename(fresh, path);
}

}  // namespace gangway::testutil
