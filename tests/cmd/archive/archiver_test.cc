// What an archive does when somebody else is faster, against answers that a test writes.
#include "cmd/archive/archiver.h"

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/simulated_loop.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/fake_client.h"

namespace gangway::cmd {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

class Lines final : public Sink {
 public:
  Lines(Loop& loop, std::vector<std::string>& lines) : loop_(loop), lines_(lines) {}
  absl::StatusOr<std::set<std::string>> Known(const std::set<std::string>&) override { return std::set<std::string>(); }
  void Put(const Record& record, Done done) override {
    lines_.push_back(record.line);
    loop_.Post(owner_.token(), [done = std::move(done)]() mutable { done(absl::OkStatus()); });
  }

 private:
  Loop& loop_;
  std::vector<std::string>& lines_;
  Owner owner_;
};

class ArchiverTest : public ::testing::Test {
 protected:
  static std::string Job(int version, const std::string& more) {
    return absl::StrCat(
        R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":"j","namespace":"default","uid":"u",
           "resourceVersion":")",
        version, "\"", more, R"(},"spec":{"tasks":[]},"status":{"state":{"phase":"Completed"}}})");
  }
  void Start() {
    client_.SetHandler([](const kube::Request& request) -> std::optional<absl::StatusOr<kube::Response>> {
      if (absl::EndsWith(request.path, "/events")) return std::nullopt;
      const std::string items = absl::EndsWith(request.path, "batch.volcano.sh/v1alpha1/jobs") ? Job(1, "") : "";
      return testutil::Reply(200, absl::StrCat(R"({"metadata":{"resourceVersion":"1"},"items":[)", items, "]}"));
    });
    std::vector<std::unique_ptr<Sink>> sinks;
    sinks.push_back(std::make_unique<Lines>(loop_, lines_));
    ArchiverOptions options;
    options.hold = true;
    archiver_.emplace(loop_, client_, std::move(sinks), options, [](absl::Status) {});
    archiver_->Start();
    loop_.RunFor(absl::Seconds(1));
  }
  void Shown(kube::FrameType type, const std::string& job) {
    for (std::size_t i = 0; i < client_.watches(); ++i) {
      if (absl::EndsWith(client_.watch_request(i).path, "batch.volcano.sh/v1alpha1/jobs")) client_.Push(i, type, job);
    }
    loop_.RunFor(absl::Milliseconds(10));
  }
  void AnswerEvents() {
    const std::vector<std::string> lines = client_.lines();
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (absl::EndsWith(lines[i], "/events")) client_.Answer(i, testutil::Reply(200, R"({"items":[]})"));
    }
    loop_.RunFor(absl::Minutes(5));
  }

  SimulatedLoop loop_{7};
  testutil::FakeClient client_{loop_};
  std::vector<std::string> lines_;
  std::optional<Archiver> archiver_;
};

const std::string kByAnother = R"(,"annotations":{"gangway.io/archived-at":"2026-01-01T00:00:00Z"})";

TEST_F(ArchiverTest, AJobThatEndedIsKept) {
  Start();
  loop_.RunFor(absl::Seconds(3));
  AnswerEvents();
  EXPECT_THAT(lines_, SizeIs(1));
}

// Another archive has it while this one waits to write it, and it goes.
TEST_F(ArchiverTest, AJobThatAnotherArchivesAndThatGoesIsLeft) {
  Start();
  Shown(kube::FrameType::kModified, Job(2, kByAnother));
  Shown(kube::FrameType::kDeleted, Job(3, kByAnother));
  loop_.RunFor(absl::Minutes(5));
  EXPECT_THAT(lines_, IsEmpty());
  EXPECT_THAT(client_.lines(), ::testing::Not(::testing::Contains(::testing::HasSubstr("/events"))));
}

TEST_F(ArchiverTest, OneThatGoesWhileItsEventsAreAskedForIsKeptAllTheSame) {
  Start();
  loop_.RunFor(absl::Seconds(3));
  Shown(kube::FrameType::kModified, Job(2, kByAnother));
  Shown(kube::FrameType::kDeleted, Job(3, kByAnother));
  AnswerEvents();
  EXPECT_THAT(lines_, SizeIs(1));
}

}  // namespace
}  // namespace gangway::cmd
