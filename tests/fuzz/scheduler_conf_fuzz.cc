// Volcano's scheduler configuration: what is read is a policy within its bounds, and lines that a terminal shows as
// lines.
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/strings.h"
#include "plugin/conf/scheduler_conf.h"
#include "tests/fuzz/fuzz_target.h"

namespace gangway::testutil {
namespace {

constexpr char kSource[] = "conf";

void RequireWithinBounds(const gang::Policy& policy, absl::string_view text) {
  if (policy.overcommit_percent.has_value())
    Require(*policy.overcommit_percent >= 100 && *policy.overcommit_percent <= 10'000, "a factor between 1 and 100",
            text);
  if (policy.waiting_time.has_value())
    Require(*policy.waiting_time > absl::ZeroDuration(), "a waiting time is positive", text);
  if (!policy.packing.weights.has_value()) return;
  Require(policy.packing.weights->contains("cpu") && policy.packing.weights->contains("memory"),
          "cpu and memory have weights", text);
  for (const auto& [name, weight] : *policy.packing.weights)
    Require(weight >= 0 && weight <= 0x7fffffff, "a weight of 31 bits", text);
}

}  // namespace
}  // namespace gangway::testutil

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gangway;
  using testutil::Require;
  const absl::string_view text = testutil::TextOf(data, size);
  const auto conf = conf::ReadSchedulerConf(text, testutil::kSource),
             again = conf::ReadSchedulerConf(text, testutil::kSource);
  Require(conf.status() == again.status(), "the same text is read the same", text);
  if (!conf.ok()) {
    Require(absl::StartsWith(conf.status().message(), absl::StrCat(testutil::kSource, ":")), "an error names the file",
            conf.status().message());
    return 0;
  }
  Require(conf->notes == again->notes && conf->policy == again->policy, "the same text means the same", text);
  testutil::RequireWithinBounds(conf->policy, text);
  // YAML ends lines at more than an editor does.
  int lines = 1;
  for (const absl::string_view end : {"\n", "\r", "\u0085", "\u2028", "\u2029"})
    for (std::size_t at = text.find(end); at != text.npos; at = text.find(end, at + end.size())) ++lines;
  Require(conf->notes.size() <= conf::kMaxNotes, "no more lines than the most", text);
  for (const conf::Note& note : conf->notes) {
    const std::string said = conf::NoteText(testutil::kSource, note);
    Require(note.line >= 1 && note.line <= lines, "a line of the file", said);
    Require(said.size() < 1000 && !HasControl(said), "a line, and no long one", said);
  }
  ++testutil::came_out;
  return 0;
}
