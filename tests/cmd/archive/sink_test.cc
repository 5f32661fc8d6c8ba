// Files that break off, stores that refuse, take their time and answer half.
#include "cmd/archive/sink.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/asio_loop.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/files.h"
#include "tests/testing/scripted_server.h"

namespace gangway::cmd {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testutil::ReadFile;
using testutil::ScriptedAnswer;
using testutil::ScriptedServer;
using testutil::TemporaryFolder;
using testutil::WriteFile;

Record RecordOf(const std::string& uid) {
  return {uid, absl::StrCat("ads/ctr-", uid, ".json"), absl::StrCat(R"({"uid":")", uid, R"(","kind":"Job"})")};
}

absl::Status PutInto(AsioLoop& loop, Sink& sink, const Record& record) {
  std::optional<absl::Status> end;
  sink.Put(record, [&](absl::Status status) {
    end = std::move(status);
    loop.Stop();
  });
  while (!end.has_value()) loop.Run();
  return *end;
}

class FileSinkTest : public ::testing::Test {
 protected:
  std::unique_ptr<FileSink> Open() {
    absl::StatusOr<std::unique_ptr<FileSink>> sink = FileSink::Open(loop_, path_);
    EXPECT_TRUE(sink.ok()) << sink.status();
    return sink.ok() ? *std::move(sink) : nullptr;
  }
  AsioLoop loop_{1};
  const TemporaryFolder folder_{"gangway-archive"};
  const std::string path_ = folder_.path() + "/jobs.jsonl";
};

TEST_F(FileSinkTest, WhatIsInTheFileIsKnownAfterARestart) {
  std::unique_ptr<FileSink> sink = Open();
  EXPECT_TRUE(PutInto(loop_, *sink, RecordOf("a")).ok());
  EXPECT_TRUE(PutInto(loop_, *sink, RecordOf("b")).ok());
  sink = nullptr;
  EXPECT_EQ(ReadFile(path_), RecordOf("a").line + "\n" + RecordOf("b").line + "\n");
  const auto known = Open()->Known({"b", "c"});
  ASSERT_TRUE(known.ok());
  EXPECT_THAT(*known, ElementsAre("b")) << "those that are asked for";
}

TEST_F(FileSinkTest, LinesOfAnyLengthAreRead) {
  std::string text;
  for (int i = 0; i < 40; ++i)
    absl::StrAppend(&text, R"({"uid":"u)", i, R"(","x":")", std::string(100'000 + static_cast<std::size_t>(i), 'x'),
                    "\"}\n");
  WriteFile(path_, text);
  const auto known = Open()->Known({"u0", "u17", "u39", "u40"});
  ASSERT_TRUE(known.ok());
  EXPECT_THAT(*known, ElementsAre("u0", "u17", "u39"));
}

TEST_F(FileSinkTest, ALineThatBrokeOffGoesAndIsNotKnown) {
  WriteFile(path_, RecordOf("a").line + "\n" + RecordOf("b").line.substr(0, 18));
  const std::unique_ptr<FileSink> sink = Open();
  const auto known = sink->Known({"a", "b"});
  ASSERT_TRUE(known.ok());
  EXPECT_THAT(*known, ElementsAre("a"));
  EXPECT_TRUE(PutInto(loop_, *sink, RecordOf("b")).ok());
  EXPECT_EQ(ReadFile(path_), RecordOf("a").line + "\n" + RecordOf("b").line + "\n");
}

TEST_F(FileSinkTest, AFileOfSomebodyElseIsLeftAlone) {
  WriteFile(path_, "my thesis, chapter one");
  const auto sink = FileSink::Open(loop_, path_);
  EXPECT_THAT(std::string(sink.status().message()), HasSubstr(path_ + ": its first line is no record of an archive"));
  EXPECT_EQ(ReadFile(path_), "my thesis, chapter one");
  EXPECT_FALSE(FileSink::Open(loop_, folder_.path()).ok());
  EXPECT_FALSE(FileSink::Open(loop_, folder_.path() + "/no/such").ok());
}

TEST_F(FileSinkTest, TwoWritersAreOneTooMany) {
  const std::unique_ptr<FileSink> sink = Open();
  const auto second = FileSink::Open(loop_, path_);
  EXPECT_THAT(std::string(second.status().message()), HasSubstr("another gangway archive writes it"));
}

TEST_F(FileSinkTest, AFileThatIsRenamedAwayIsBegunAnew) {
  const std::unique_ptr<FileSink> sink = Open();
  EXPECT_TRUE(PutInto(loop_, *sink, RecordOf("a")).ok());
  std::filesystem::rename(path_, path_ + ".1");
  EXPECT_TRUE(PutInto(loop_, *sink, RecordOf("b")).ok());
  EXPECT_EQ(ReadFile(path_ + ".1"), RecordOf("a").line + "\n");
  EXPECT_EQ(ReadFile(path_), RecordOf("b").line + "\n");
}

// A store in memory that checks who asks, and does what a test says instead of answering.
class Store {
 public:
  using Spoil = std::function<std::optional<ScriptedAnswer>(const std::string& line)>;
  std::vector<std::string> asked() {
    const std::lock_guard lock(mu_);
    return asked_;
  }
  std::map<std::string, std::string> objects() {
    const std::lock_guard lock(mu_);
    return objects_;
  }
  void SpoilNext(Spoil spoil) {
    const std::lock_guard lock(mu_);
    spoil_.push_back(std::move(spoil));
  }
  StoreOptions Options() const {
    StoreOptions out;
    out.url = server_.url() + "/bucket/jobs";
    out.signing = kube::AwsSigning{"eu-central-1", "s3", "AKIA", "hush", "token"};
    return out;
  }

 private:
  static std::string Hex(const std::string& bytes) { return absl::BytesToHexString(bytes); }
  static std::string Sha256(const std::string& text) {
    unsigned char out[32];
    unsigned size = 0;
    EVP_Digest(text.data(), text.size(), out, &size, EVP_sha256(), nullptr);
    return std::string(reinterpret_cast<char*>(out), size);
  }
  static std::string Hmac(const std::string& key, const std::string& text) {
    unsigned char out[32];
    unsigned size = 0;
    HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), reinterpret_cast<const unsigned char*>(text.data()),
         text.size(), out, &size);
    return std::string(reinterpret_cast<char*>(out), size);
  }
  static std::string Header(const std::string& head, const std::string& name) {
    for (const absl::string_view line : absl::StrSplit(head, "\r\n")) {
      const std::size_t colon = line.find(':');
      if (colon != absl::string_view::npos && absl::EqualsIgnoreCase(line.substr(0, colon), name))
        return std::string(absl::StripAsciiWhitespace(line.substr(colon + 1)));
    }
    return "";
  }
  // Of Signature Version 4, written from its description.
  static bool Signed(const std::string& head, const std::string& method, const std::string& path,
                     const std::string& body) {
    const std::string authorization = Header(head, "Authorization");
    const auto part = [&](const std::string& name) {
      const std::size_t at = authorization.find(name + "=");
      if (at == std::string::npos) return std::string();
      const std::size_t begin = at + name.size() + 1;
      return authorization.substr(begin, authorization.find(',', begin) - begin);
    };
    const std::string names = part("SignedHeaders");
    std::string canonical = absl::StrCat(method, "\n", path, "\n\n");
    for (const absl::string_view name : absl::StrSplit(names, ';'))
      absl::StrAppend(&canonical, name, ":", Header(head, std::string(name)), "\n");
    const std::string hash = Hex(Sha256(body));
    if (Header(head, "x-amz-content-sha256") != hash || Header(head, "x-amz-security-token") != "token") return false;
    if (!absl::StrContains(names, "x-amz-content-sha256") || !absl::StrContains(names, "x-amz-security-token"))
      return false;
    absl::StrAppend(&canonical, "\n", names, "\n", hash);
    const std::vector<std::string> scope = absl::StrSplit(part("Credential"), '/');
    if (scope.size() != 5 || scope[0] != "AKIA" || scope[2] != "eu-central-1" || scope[3] != "s3") return false;
    std::string key = "AWS4hush";
    for (std::size_t i = 1; i < scope.size(); ++i) key = Hmac(key, scope[i]);
    const std::string text =
        absl::StrCat("AWS4-HMAC-SHA256\n", Header(head, "x-amz-date"), "\n",
                     absl::StrJoin(scope.begin() + 1, scope.end(), "/"), "\n", Hex(Sha256(canonical)));
    return Hex(Hmac(key, text)) == part("Signature");
  }

  ScriptedAnswer Answer(const std::string& head, const std::string& body) {
    const std::vector<std::string> words = absl::StrSplit(head.substr(0, head.find("\r\n")), ' ');
    Spoil spoil;
    {
      const std::lock_guard lock(mu_);
      asked_.push_back(words[0]);
      if (!spoil_.empty()) {
        spoil = std::move(spoil_.front());
        spoil_.erase(spoil_.begin());
      }
    }
    if (!Signed(head, words[0], words[1], body)) return {403, "<Error><Code>SignatureDoesNotMatch</Code></Error>"};
    const std::optional<ScriptedAnswer> spoiled = spoil ? spoil(words[0]) : std::nullopt;
    if (spoiled.has_value() && spoiled->code != 200) return *spoiled;
    const std::lock_guard lock(mu_);
    const bool there = objects_.contains(words[1]);
    if (words[0] == "HEAD") return {there ? 200 : 404, ""};
    objects_[words[1]] = body;
    return spoiled.value_or(ScriptedAnswer{200, ""});
  }

  std::mutex mu_;
  std::vector<std::string> asked_;
  std::map<std::string, std::string> objects_;
  std::vector<Spoil> spoil_;
  ScriptedServer server_{ScriptedServer::AnswerToBody(
      [this](const std::string& head, const std::string& body) { return Answer(head, body); })};
};

Store::Spoil Nothing() {
  return [](const std::string&) { return std::optional<ScriptedAnswer>(); };
}

class StoreSinkTest : public ::testing::Test {
 protected:
  absl::Status Put(const StoreOptions& options, const std::string& uid) {
    const auto sink = StoreSink::Make(loop_, options);
    return sink.ok() ? PutInto(loop_, **sink, RecordOf(uid)) : sink.status();
  }
  AsioLoop loop_{1};
  Store store_;
};

TEST_F(StoreSinkTest, ARecordIsAnObjectThatIsSignedAndWrittenOnce) {
  EXPECT_TRUE(Put(store_.Options(), "a").ok());
  EXPECT_TRUE(Put(store_.Options(), "a").ok()) << "after a restart";
  EXPECT_THAT(store_.asked(), ElementsAre("HEAD", "PUT", "HEAD"));
  EXPECT_THAT(store_.objects(), ElementsAre(std::pair<std::string, std::string>("/bucket/jobs/ads/ctr-a.json",
                                                                                RecordOf("a").line + "\n")));
}

TEST_F(StoreSinkTest, ARefusalIsToldInTheStoresWords) {
  StoreOptions wrong = store_.Options();
  wrong.signing->secret = "guess";
  const absl::Status refused = Put(wrong, "a");
  EXPECT_TRUE(absl::IsUnavailable(refused));
  EXPECT_THAT(std::string(refused.message()),
              HasSubstr("the store answers 403 to ads/ctr-a.json: <Error><Code>SignatureDoesNotMatch"));
  EXPECT_THAT(store_.objects(), IsEmpty());
  store_.SpoilNext([](const std::string&) { return ScriptedAnswer{503, "slow down"}; });
  EXPECT_THAT(std::string(Put(store_.Options(), "a").message()), HasSubstr("answers 503"));
}

TEST_F(StoreSinkTest, AStoreThatDoesNotSayWhatItHasIsGivenIt) {
  store_.SpoilNext([](const std::string&) { return ScriptedAnswer{403, ""}; });  // no right to list
  EXPECT_TRUE(Put(store_.Options(), "a").ok());
  EXPECT_EQ(store_.objects().size(), 1u);
}

TEST_F(StoreSinkTest, HalfAnAnswerIsNoneAndTheNextTryFindsTheObject) {
  store_.SpoilNext(Nothing());
  store_.SpoilNext([](const std::string&) {
    ScriptedAnswer half;
    half.raw = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n<half";
    return half;
  });
  EXPECT_FALSE(Put(store_.Options(), "a").ok());
  EXPECT_TRUE(Put(store_.Options(), "a").ok());
  EXPECT_THAT(store_.asked(), ElementsAre("HEAD", "PUT", "HEAD"));
  EXPECT_EQ(store_.objects().size(), 1u);
}

TEST_F(StoreSinkTest, AnAnswerThatDoesNotComeIsNotWaitedForForEver) {
  std::promise<void> over;
  store_.SpoilNext([&](const std::string&) {
    over.get_future().wait();
    return std::optional<ScriptedAnswer>();
  });
  StoreOptions options = store_.Options();
  options.patience = absl::Milliseconds(200);
  EXPECT_TRUE(absl::IsDeadlineExceeded(Put(options, "a")));
  over.set_value();
}

TEST_F(StoreSinkTest, AnAnswerWithoutEndIsCutOff) {
  store_.SpoilNext(Nothing());
  store_.SpoilNext([](const std::string&) { return ScriptedAnswer{500, std::string(std::size_t{1} << 20, 'x')}; });
  const absl::Status refused = Put(store_.Options(), "a");
  EXPECT_FALSE(refused.ok());
  EXPECT_LT(refused.message().size(), 1000u);
}

TEST_F(StoreSinkTest, CredentialsThatCannotBeSignedWithAreRefused) {
  StoreOptions options = store_.Options();
  options.signing->region = "eu:central";
  EXPECT_TRUE(absl::IsInvalidArgument(Put(options, "a")));
  options.signing->region = "eu";
  options.signing->secret = "a\r\nb";
  EXPECT_TRUE(absl::IsInvalidArgument(Put(options, "a")));
}

}  // namespace
}  // namespace gangway::cmd
