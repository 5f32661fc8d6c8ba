// Where logs go. Whole lines only, so that those of different containers never mix within one.
#pragma once

#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/strings/string_view.h"
#include "cmd/logs/line_cutter.h"
#include "cmd/logs/log_choice.h"

namespace gangway::cmd {

struct LogOutput {
  absl::AnyInvocable<void(absl::string_view lines)> print;  // with their line feeds
  absl::AnyInvocable<void(absl::string_view note)> tell;    // one line beside the logs, without its line feed
};

// Collects lines as they are printed.
class LineSink {
 public:
  LineSink(absl::string_view prefix, bool stamps) : prefix_(prefix), stamps_(stamps) {}
  void operator()(absl::string_view stamp, absl::string_view text) const {
    out_.append(prefix_.data(), prefix_.size());
    if (stamps_ && !stamp.empty()) out_.append(stamp.data(), stamp.size()).push_back(' ');
    out_.append(text.data(), text.size()).push_back('\n');
  }
  // Prints what has been collected, at once.
  void Flush(LogOutput& output) {
    if (!out_.empty()) output.print(out_);
    out_.clear();
  }

 private:
  const absl::string_view prefix_;
  const bool stamps_;
  mutable std::string out_;  // a FunctionRef calls what is const
};

}  // namespace gangway::cmd
