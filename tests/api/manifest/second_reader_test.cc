// yaml-cpp, a reader that shares nothing with ours, must see in every manifest what we see, and in what we write what
// we meant: users' editors, linters and pipelines are not libyaml.
#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "api/json_value.h"
#include "api/manifest/manifest.h"
#include "api/manifest/scalar.h"
#include "api/manifest/yaml_writer.h"
#include "base/check.h"
#include "boost/json.hpp"
#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

namespace gangway::api {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

json::value ValueOf(const YAML::Node& node) {
  switch (node.Type()) {
    case YAML::NodeType::Undefined:
    case YAML::NodeType::Null:
      return nullptr;
    case YAML::NodeType::Scalar: {
      const bool plain = node.Tag() == "?";
      const manifest::Scalar scalar = manifest::ResolveScalar(node.Scalar());
      if (!plain || scalar.type == manifest::ScalarType::kString) return json::value(node.Scalar());
      return *ParseJson(scalar.text);
    }
    case YAML::NodeType::Sequence: {
      json::array items;
      for (const YAML::Node& item : node) items.push_back(ValueOf(item));
      return items;
    }
    case YAML::NodeType::Map: {
      json::object members;
      for (const auto& member : node) members[member.first.Scalar()] = ValueOf(member.second);
      return members;
    }
  }
  return nullptr;
}

std::vector<json::value> TheirReading(const std::string& yaml) {
  std::vector<json::value> documents;
  for (const YAML::Node& node : YAML::LoadAll(yaml)) {
    if (json::value document = ValueOf(node); !document.is_null()) documents.push_back(std::move(document));
  }
  return documents;
}

std::vector<json::value> OurReading(const std::string& yaml, const std::string& source) {
  std::vector<json::value> documents;
  const auto read = ReadDocuments(yaml, source);
  EXPECT_THAT(read, testutil::IsOk());
  if (!read.ok()) return documents;
  for (const ManifestDocument& document : *read) documents.push_back(*ParseJson(document.json));
  return documents;
}

std::string FileText(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(SecondReaderTest, ReadsOurManifestsAsWeDo) {
  int files = 0;
  for (const char* const folder : {"examples", "deploy/volcano", "tests/golden/paddle", "tests/golden/translate"}) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(fs::path(GW_SOURCE_DIR) / folder)) {
      if (entry.path().extension() != ".yaml") continue;
      const std::string text = FileText(entry.path());
      EXPECT_EQ(OurReading(text, entry.path()), TheirReading(text)) << entry.path();
      ++files;
    }
  }
  EXPECT_GT(files, 40);
}

// Pieces that readers are known to disagree about, and plain letters.
std::string RandomText(std::mt19937_64& random) {
  static constexpr const char* kPieces[] = {"a",    "Z",   "0",   "7",  " ",  ":",  ": ", " #",  "-",  "- ", "\n",
                                            "\n\n", "\t",  "'",   "\"", "\\", "{",  "}",  "[",   "]",  ",",  "&",
                                            "*",    "!",   "|",   ">",  "%",  "@",  "`",  "?",   "~",  "=",  "yes",
                                            "null", "0x1", "1e3", ".5", "é",  "训", "😀", "---", "..."};
  std::string text;
  for (std::size_t i = random() % 6; i > 0; --i) text += kPieces[random() % std::size(kPieces)];
  return text;
}

json::value RandomValue(std::mt19937_64& random, int depth) {
  switch (random() % (depth > 0 ? 7 : 5)) {
    case 0:
      return nullptr;
    case 1:
      return random() % 2 == 0;
    case 2:
      return static_cast<std::int64_t>(random() % 100'000) - 50'000;
    case 5: {
      json::array items;
      for (std::size_t i = random() % 4; i > 0; --i) items.push_back(RandomValue(random, depth - 1));
      return items;
    }
    case 6: {
      json::object members;
      for (std::size_t i = random() % 4; i > 0; --i) members[RandomText(random)] = RandomValue(random, depth - 1);
      return members;
    }
    default:
      return json::value(RandomText(random));
  }
}

TEST(SecondReaderTest, ReadsWhatWeWriteAsWeMeantIt) {
  constexpr std::uint64_t kSeed = 20261121;
  std::mt19937_64 random(kSeed);
  for (int i = 0; i < 3000; ++i) {
    const json::value value = json::object{{"value", RandomValue(random, 3)}};
    const auto yaml = YamlOf(json::serialize(value));
    ASSERT_THAT(yaml, testutil::IsOk());
    std::vector<json::value> theirs;
    try {
      theirs = TheirReading(*yaml);
    } catch (const YAML::Exception& error) {
      FAIL() << "seed " << kSeed << ", value " << i << ": " << error.what() << "\n" << *yaml;
    }
    ASSERT_EQ(theirs, std::vector<json::value>{value}) << "seed " << kSeed << ", value " << i << "\n" << *yaml;
  }
}

}  // namespace
}  // namespace gangway::api
