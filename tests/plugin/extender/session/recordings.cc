#include "tests/plugin/extender/session/recordings.h"

#include <zlib.h>

#include <algorithm>
#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "tests/testing/files.h"

namespace gangway::testutil {
namespace {

const char kFolder[] = GW_SOURCE_DIR "/tests/golden/extender/";

std::string Unpacked(const std::string& path) {
  const gzFile file = gzopen(path.c_str(), "rb");
  GW_CHECK(file != nullptr);
  std::string out;
  char some[1 << 16];
  for (int count; (count = gzread(file, some, sizeof some)) > 0;) out.append(some, static_cast<std::size_t>(count));
  gzclose(file);
  return out;
}

// A body stands in its file as it came, with no space around it.
Recording Parse(absl::string_view file, const std::string& text) {
  Recording recording;
  recording.file = std::string(file);
  recording.verb = std::string(file.substr(0, file.rfind('-')));
  const std::size_t response = text.rfind("\"response\":");
  GW_CHECK(response != std::string::npos);
  const absl::string_view request = absl::string_view(text).substr(0, response);
  const std::size_t begin = request.find("\"body\":") + 7, end = request.rfind('}');
  recording.body = std::string(request.substr(begin, end - begin));
  const absl::string_view answer = absl::string_view(text).substr(response);
  const std::size_t from = answer.find("\"body\":") + 7;
  recording.reply = std::string(answer.substr(from, answer.rfind('}', answer.rfind('}') - 1) - from));
  return recording;
}

}  // namespace

std::string ReadRecorded(absl::string_view file) {
  const std::string path = absl::StrCat(kFolder, file);
  return absl::EndsWith(file, ".gz") ? Unpacked(path) : ReadFile(path);
}

Recording Recorded(absl::string_view name) {
  const std::string plain = absl::StrCat(name, ".json");
  const std::string file = std::filesystem::exists(absl::StrCat(kFolder, plain)) ? plain : plain + ".gz";
  return Parse(file, ReadRecorded(file));
}

std::vector<Recording> AllRecordings() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) files.push_back(entry.path().filename());
  std::erase_if(files, [](const std::string& file) {
    return absl::StrContains(file, "-large") || !absl::StrContains(file, ".json");
  });
  std::sort(files.begin(), files.end());
  std::vector<Recording> recordings;
  for (const std::string& file : files) recordings.push_back(Parse(file, ReadRecorded(file)));
  return recordings;
}

std::string LargeSession() { return ReadRecorded("onSessionOpen-large.json.gz"); }

}  // namespace gangway::testutil
