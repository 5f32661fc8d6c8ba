// proto/gangway/v1 as a contract: how it is written, and that what once had a number keeps it. contract.rows has every
// field, value and method that was ever published: a row is never taken out. Who leaves a field away reserves its
// number and its name.
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/process/process.h"

namespace gangway {
namespace {

namespace pb = google::protobuf;

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kRows[] = GW_SOURCE_DIR "/tests/proto/contract.rows";

bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool IsLowerSnake(absl::string_view name) {
  return !name.empty() && name.front() >= 'a' && name.front() <= 'z' && name.back() != '_' &&
         !absl::StrContains(name, "__") && name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == name.npos;
}
bool IsPascal(absl::string_view name) {
  return !name.empty() && IsUpper(name.front()) && !absl::StrContains(name, "_");
}
std::string UpperSnakeOf(absl::string_view pascal) {
  std::string out;
  for (const char c : pascal) {
    if (IsUpper(c) && !out.empty()) out.push_back('_');
    out.push_back(c);
  }
  return absl::AsciiStrToUpper(out);
}

// Files of a folder, with their comments.
class Contract {
 public:
  explicit Contract(const std::string& root) {
    const testutil::TemporaryFolder folder("gangway-contract");
    const std::string set = folder.path() + "/set";
    std::vector<std::string> protoc{
        GW_PROTOC, "-I", root, "--include_imports", "--include_source_info", "--descriptor_set_out=" + set};
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(root + "/proto/gangway/v1"))
      names.insert(absl::StrCat("proto/gangway/v1/", entry.path().filename().string()));
    protoc.insert(protoc.end(), names.begin(), names.end());
    const testutil::Outcome ran = testutil::RunProgram(protoc);
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    pb::FileDescriptorSet read;
    EXPECT_TRUE(read.ParseFromString(testutil::ReadFile(set)));
    for (const pb::FileDescriptorProto& file : read.file()) {
      const pb::FileDescriptor* const built = pool_.BuildFile(file);
      if (built == nullptr) ADD_FAILURE() << file.name();
      if (built != nullptr && names.contains(file.name())) files_.push_back(built);
    }
  }

  // What is written otherwise than it should be, by full names.
  std::vector<std::string> Complaints() {
    complaints_.clear();
    for (const pb::FileDescriptor* const file : files_) {
      if (file->package() != "gangway.v1") Say(file->name(), "is of another package than gangway.v1");
      if (file->syntax() != pb::FileDescriptor::SYNTAX_PROTO3) Say(file->name(), "is not proto3");
      for (int i = 0; i < file->service_count(); ++i) CheckService(*file->service(i));
      for (int i = 0; i < file->message_type_count(); ++i) CheckMessage(*file->message_type(i));
      for (int i = 0; i < file->enum_type_count(); ++i) CheckEnum(*file->enum_type(i));
    }
    return complaints_;
  }

  // Where it no longer keeps what the rows say.
  std::vector<std::string> Breaks(const std::vector<std::string>& rows) const {
    const std::set<std::string> there = Rows();
    std::vector<std::string> out;
    for (const std::string& row : rows) {
      if (!there.contains(row) && !IsReserved(row)) out.push_back(row);
    }
    return out;
  }
  // "field gangway.v1.Node 1 name string", "value gangway.v1.Vote 1 VOTE_PERMIT", "method gangway.v1.Explain/Explain
  // ..."
  std::set<std::string> Rows() const {
    std::set<std::string> rows;
    for (const pb::FileDescriptor* const file : files_) {
      for (int i = 0; i < file->service_count(); ++i) AddMethods(*file->service(i), rows);
      for (int i = 0; i < file->message_type_count(); ++i) AddFields(*file->message_type(i), rows);
      for (int i = 0; i < file->enum_type_count(); ++i) AddValues(*file->enum_type(i), rows);
    }
    return rows;
  }

 private:
  void Say(absl::string_view what, absl::string_view complaint) {
    complaints_.push_back(absl::StrCat(std::string(what), ": ", std::string(complaint)));
  }
  template <class T>
  static bool HasComment(const T& what) {
    pb::SourceLocation at;
    return what.GetSourceLocation(&at) && !(at.leading_comments.empty() && at.trailing_comments.empty());
  }
  // On the line behind: one comment is for both.
  static bool Follows(const pb::MethodDescriptor& before, const pb::MethodDescriptor& method) {
    pb::SourceLocation first, second;
    return before.GetSourceLocation(&first) && method.GetSourceLocation(&second) &&
           second.start_line == first.end_line + 1;
  }

  void CheckService(const pb::ServiceDescriptor& service) {
    if (!IsPascal(service.name())) Say(service.full_name(), "is not written LikeThis");
    bool told = false;
    for (int i = 0; i < service.method_count(); ++i) {
      const pb::MethodDescriptor& method = *service.method(i);
      if (!IsPascal(method.name())) Say(method.full_name(), "is not written LikeThis");
      told = HasComment(method) || (told && Follows(*service.method(i - 1), method));
      if (!told) Say(method.full_name(), "has no comment");
      if (!absl::EndsWith(method.input_type()->name(), "Request")) Say(method.full_name(), "takes no ...Request");
      if (!absl::EndsWith(method.output_type()->name(), "Response")) Say(method.full_name(), "gives no ...Response");
    }
  }
  void CheckMessage(const pb::Descriptor& message) {
    if (message.options().map_entry()) return;
    if (!IsPascal(message.name())) Say(message.full_name(), "is not written LikeThis");
    for (int i = 0; i < message.field_count(); ++i) {
      if (!IsLowerSnake(message.field(i)->name())) Say(message.field(i)->full_name(), "is not written like_this");
    }
    for (int i = 0; i < message.nested_type_count(); ++i) CheckMessage(*message.nested_type(i));
    for (int i = 0; i < message.enum_type_count(); ++i) CheckEnum(*message.enum_type(i));
  }
  void CheckEnum(const pb::EnumDescriptor& type) {
    if (!IsPascal(type.name())) Say(type.full_name(), "is not written LikeThis");
    const std::string prefix = UpperSnakeOf(type.name()) + "_";
    bool told = HasComment(type);
    for (int i = 0; i < type.value_count(); ++i) {
      if (!absl::StartsWith(type.value(i)->name(), prefix))
        Say(type.value(i)->full_name(), absl::StrCat("does not begin with ", prefix));
      told = told || HasComment(*type.value(i));
    }
    if (!told) Say(type.full_name(), "has no comment, and none of its values");
  }

  static std::string TypeOf(const pb::FieldDescriptor& field) {
    const std::string type = field.message_type() != nullptr ? field.message_type()->full_name()
                             : field.enum_type() != nullptr  ? field.enum_type()->full_name()
                                                             : field.type_name();
    if (field.is_map()) {
      return absl::StrCat("map<", TypeOf(*field.message_type()->field(0)), ",", TypeOf(*field.message_type()->field(1)),
                          ">");
    }
    const pb::OneofDescriptor* const oneof = field.real_containing_oneof();
    return absl::StrCat(field.is_repeated()                   ? "repeated "
                        : oneof != nullptr                    ? absl::StrCat("oneof ", oneof->name(), " ")
                        : field.containing_oneof() != nullptr ? "optional "
                                                              : "",
                        type);
  }
  static void AddMethods(const pb::ServiceDescriptor& service, std::set<std::string>& rows) {
    for (int i = 0; i < service.method_count(); ++i) {
      const pb::MethodDescriptor& method = *service.method(i);
      rows.insert(absl::StrCat("method ", service.full_name(), "/", method.name(),
                               method.client_streaming() ? " stream " : " ", method.input_type()->full_name(),
                               method.server_streaming() ? " stream " : " ", method.output_type()->full_name()));
    }
  }
  static void AddFields(const pb::Descriptor& message, std::set<std::string>& rows) {
    if (message.options().map_entry()) return;
    for (int i = 0; i < message.field_count(); ++i) {
      const pb::FieldDescriptor& field = *message.field(i);
      rows.insert(
          absl::StrCat("field ", message.full_name(), " ", field.number(), " ", field.name(), " ", TypeOf(field)));
    }
    for (int i = 0; i < message.nested_type_count(); ++i) AddFields(*message.nested_type(i), rows);
    for (int i = 0; i < message.enum_type_count(); ++i) AddValues(*message.enum_type(i), rows);
  }
  static void AddValues(const pb::EnumDescriptor& type, std::set<std::string>& rows) {
    for (int i = 0; i < type.value_count(); ++i)
      rows.insert(absl::StrCat("value ", type.full_name(), " ", type.value(i)->number(), " ", type.value(i)->name()));
  }
  // Its number and its name are given to nobody else.
  bool IsReserved(const std::string& row) const {
    const std::vector<std::string> words = absl::StrSplit(row, ' ');
    if (words.size() < 4 || words[0] == "method") return false;
    const int number = std::atoi(words[2].c_str());
    if (words[0] == "field") {
      const pb::Descriptor* const message = pool_.FindMessageTypeByName(words[1]);
      return message != nullptr && message->IsReservedNumber(number) && message->IsReservedName(words[3]);
    }
    const pb::EnumDescriptor* const type = pool_.FindEnumTypeByName(words[1]);
    return type != nullptr && type->IsReservedNumber(number) && type->IsReservedName(words[3]);
  }

  pb::DescriptorPool pool_;
  std::vector<const pb::FileDescriptor*> files_;
  std::vector<std::string> complaints_;
};

TEST(ContractTest, IsWrittenAsOthersExpectIt) { EXPECT_THAT(Contract(GW_SOURCE_DIR).Complaints(), IsEmpty()); }

TEST(ContractTest, WhatWasPublishedIsThereOrReserved) {
  const Contract contract(GW_SOURCE_DIR);
  std::vector<std::string> rows;
  if (std::filesystem::exists(kRows)) rows = absl::StrSplit(testutil::ReadFile(kRows), '\n', absl::SkipEmpty());
  EXPECT_THAT(contract.Breaks(rows), IsEmpty()) << "a caller that was built before no longer understands us: keep it, "
                                                   "or reserve its number and its name";
  std::set<std::string> all(rows.begin(), rows.end());
  std::vector<std::string> fresh;
  for (const std::string& row : contract.Rows()) {
    if (all.insert(row).second) fresh.push_back(row);
  }
  if (std::getenv("GW_UPDATE_GOLDEN") != nullptr) testutil::WriteFile(kRows, absl::StrJoin(all, "\n") + "\n");
  EXPECT_THAT(fresh, IsEmpty()) << "is new: GW_UPDATE_GOLDEN=1 publishes it";
}

// A contract of one file, so that each of the complaints is seen once.
class SmallContractTest : public ::testing::Test {
 protected:
  std::unique_ptr<Contract> Of(const std::string& text) {
    std::filesystem::create_directories(folder_.path() + "/proto/gangway/v1");
    testutil::WriteFile(folder_.path() + "/proto/gangway/v1/a.proto",
                        "syntax = \"proto3\";\npackage gangway.v1;\n" + text);
    return std::make_unique<Contract>(folder_.path());
  }
  const testutil::TemporaryFolder folder_{"gangway-contract"};
};

TEST_F(SmallContractTest, WhatIsWrittenOtherwiseIsNamed) {
  EXPECT_THAT(
      Of("message bad_name { int32 Number = 1; }\n"
         "enum Mood { GOOD = 0; }\n"
         "message In {}\n"
         "service S { rpc ask(In) returns (In); }\n")
          ->Complaints(),
      ElementsAre("gangway.v1.S.ask: is not written LikeThis", "gangway.v1.S.ask: has no comment",
                  "gangway.v1.S.ask: takes no ...Request", "gangway.v1.S.ask: gives no ...Response",
                  "gangway.v1.bad_name: is not written LikeThis",
                  "gangway.v1.bad_name.Number: is not written like_this", "gangway.v1.GOOD: does not begin with MOOD_",
                  "gangway.v1.Mood: has no comment, and none of its values"));
}

TEST_F(SmallContractTest, ANumberIsNotUsedAnew) {
  const auto before = Of("message M { int32 a = 1; string b = 2; map<string, int32> c = 3; optional int32 d = 4; }\n"
                         "enum E { E_A = 0; E_B = 1; }\n"
                         "message QRequest {} message QResponse {}\n"
                         "service S { rpc Q(QRequest) returns (QResponse); }\n")
                          ->Rows();
  const std::vector<std::string> rows(before.begin(), before.end());
  ASSERT_THAT(rows, SizeIs(7));
  // Another type, another name, gone, another presence; a value renamed; a stream.
  EXPECT_THAT(Of("message M { int64 a = 1; string other = 2; int32 d = 4; }\n"
                 "enum E { E_A = 0; E_C = 1; }\n"
                 "message QRequest {} message QResponse {}\n"
                 "service S { rpc Q(QRequest) returns (stream QResponse); }\n")
                  ->Breaks(rows),
              SizeIs(6));
  EXPECT_THAT(Of("message M { reserved 1, 2, 3, 4; reserved \"a\", \"b\", \"c\", \"d\"; int32 e = 5; }\n"
                 "enum E { E_A = 0; reserved 1; reserved \"E_B\"; }\n"
                 "message QRequest {} message QResponse {}\n"
                 "service S { rpc Q(QRequest) returns (QResponse); }\n")
                  ->Breaks(rows),
              IsEmpty());
  EXPECT_THAT(Of("message M { reserved 1, 2, 3, 4; }\n"  // a name could come again, with another number
                 "enum E { E_A = 0; E_B = 1; }\n"
                 "message QRequest {} message QResponse {}\n"
                 "service S { rpc Q(QRequest) returns (QResponse); }\n")
                  ->Breaks(rows),
              SizeIs(4));
}

}  // namespace
}  // namespace gangway
