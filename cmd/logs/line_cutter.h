// Cuts the log of one container, as it comes with timestamps=true, into lines, and knows after a break what it has had.
// Pure.
//
// A server gives lines from a whole second on only (sinceTime). What was cut before is left out when it comes again:
// every line up to the last stamp, and of those with that very stamp as many as were cut.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace gangway::cmd {

class LineCutter {
 public:
  // A line without its stamp and line feed, any bytes. `stamp` is as it came; "" when the line had none. Both die with
  // the call.
  using Sink = absl::FunctionRef<void(absl::string_view stamp, absl::string_view text)>;

  // A longer line comes in pieces of this size, each as a line.
  static constexpr std::size_t kMaxLine = 256u << 10;

  // The text begins anew: from `resume_from` on where it is set, else as a first time. A line that was cut off in the
  // middle is forgotten; it comes again.
  void Begin();
  // What comes next is the log of the container's next run: none of it has come before, except what is older than the
  // last line.
  void NextRun() { at_last_ = 0; }
  void Feed(absl::string_view bytes, Sink sink);
  // The text has ended in an orderly way: what is left is a line.
  void Finish(Sink sink);

  // The second to ask from (sinceTime); nothing before the first stamp.
  std::optional<absl::Time> resume_from() const;

 private:
  void Take(absl::string_view bytes, Sink sink);
  void Emit(bool whole, Sink sink);
  void OpenLine();
  bool IsKnown();

  // The line under way.
  std::string buffer_;    // of it, what is not emitted yet
  bool open_ = false;     // its stamp has been read
  bool dropped_ = false;  // it was cut before
  std::string stamp_;
  std::optional<absl::Time> at_;
  std::size_t emitted_ = 0;  // bytes of its text, in pieces
  std::size_t skip_ = 0;     // bytes of its text that were emitted before a break

  // What has been cut.
  std::optional<absl::Time> last_;
  std::int64_t at_last_ = 0;             // lines with that stamp
  std::optional<absl::Time> broken_at_;  // the stamp of a line of which pieces were emitted before the break
  std::size_t broken_bytes_ = 0;

  bool resuming_ = false;
  std::int64_t again_ = 0;  // lines with the last stamp that still come again
};

}  // namespace gangway::cmd
