#include "cmd/logs/log_printer.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace gangway::cmd {
namespace {

constexpr int kTries = 3;
constexpr absl::Duration kBetweenTries = absl::Seconds(1);

bool WorthAnotherTry(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) || absl::IsInternal(status) ||
         absl::IsResourceExhausted(status);
}

}  // namespace

LogPrinter::LogPrinter(Loop& loop, kube::TextSource& texts, std::vector<api::core::Pod> pods, LogChoice choice,
                       LogOutput output, OnEnd on_end)
    : loop_(loop),
      texts_(texts),
      pods_(std::move(pods)),
      choice_(std::move(choice)),
      output_(std::move(output)),
      on_end_(std::move(on_end)) {}

void LogPrinter::Start() {
  for (const api::core::Pod& pod : pods_) {
    for (std::string& container : ContainersOf(pod, choice_)) {
      const ContainerRun run = RunOf(pod, container);
      if (choice_.previous ? run.had_previous : run.started) {
        items_.push_back({&pod, std::move(container)});
      } else if (!choice_.previous) {
        output_.tell(absl::StrCat(ShortName(pod), ": container ", container, " has written nothing yet: ", run.waits));
      }
    }
  }
  loop_.Post(owner_.token(), [this] { Next(); });
}

void LogPrinter::Next() {
  if (current_ == items_.size()) {
    if (first_failure_.ok() && choice_.previous && !read_any_) {
      return on_end_(
          absl::NotFoundError("no container has run before in the pods that are there; pods that a restart of the job "
                              "removed took their logs with them"));
    }
    return on_end_(first_failure_);
  }
  prefix_ = PrefixOf(*items_[current_].pod, items_[current_].container, choice_);
  cutter_ = LineCutter();
  failures_ = 0;
  Open();
}

void LogPrinter::Open() {
  const Item& item = items_[current_];
  LogPlace place;
  place.previous = choice_.previous;
  place.from = cutter_.resume_from();
  cutter_.Begin();
  stream_ = texts_.StartText(
      LogRequest(*item.pod, item.container, choice_, place), owner_.token(),
      [this](absl::string_view text) { OnText(text); }, [this](const absl::Status& status) { OnStreamEnd(status); });
}

void LogPrinter::OnText(absl::string_view text) {
  LineSink sink(prefix_, choice_.timestamps);
  cutter_.Feed(text, sink);
  sink.Flush(output_);
}

void LogPrinter::OnStreamEnd(const absl::Status& status) {
  stream_.reset();
  if (!status.ok()) return Failed(status);
  LineSink sink(prefix_, choice_.timestamps);
  cutter_.Finish(sink);
  sink.Flush(output_);
  read_any_ = true;
  ++current_;
  Next();
}

void LogPrinter::Failed(const absl::Status& status) {
  const Item& item = items_[current_];
  if (WorthAnotherTry(status) && ++failures_ < kTries) {
    loop_.PostAt(loop_.Now() + kBetweenTries, owner_.token(), [this] { Open(); });
    return;
  }
  const absl::Status named(
      status.code(), absl::StrCat(item.pod->metadata.name, ": container ", item.container, ": ", status.message()));
  if (absl::IsPermissionDenied(status) || absl::IsUnauthenticated(status)) return on_end_(named);
  if (first_failure_.ok()) {
    first_failure_ = named;
  } else {
    output_.tell(named.message());
  }
  ++current_;
  Next();
}

}  // namespace gangway::cmd
