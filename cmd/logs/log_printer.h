// `gangway logs JOB`: prints what the wanted containers have written, one after the other. Used on its loop.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "base/loop.h"
#include "cmd/logs/line_cutter.h"
#include "cmd/logs/log_choice.h"
#include "cmd/logs/log_output.h"
#include "kube/client/text_source.h"

namespace gangway::cmd {

class LogPrinter {
 public:
  // Ok, also when nothing had been written yet (which is told); NotFound: --previous, and there is none. Otherwise the
  // first log that could not be read; the others have been printed, unless we may not read logs at all. Called once,
  // never within Start().
  using OnEnd = absl::AnyInvocable<void(absl::Status)>;

  LogPrinter(Loop& loop, kube::TextSource& texts, std::vector<api::core::Pod> pods, LogChoice choice, LogOutput output,
             OnEnd on_end);
  void Start();

 private:
  struct Item {
    const api::core::Pod* pod;
    std::string container;
  };
  void Next();
  void Open();
  void OnText(absl::string_view text);
  void OnStreamEnd(const absl::Status& status);
  void Failed(const absl::Status& status);

  Loop& loop_;
  kube::TextSource& texts_;
  const std::vector<api::core::Pod> pods_;
  const LogChoice choice_;
  LogOutput output_;
  OnEnd on_end_;
  std::vector<Item> items_;
  std::size_t current_ = 0;  // of items_
  std::string prefix_;
  LineCutter cutter_;
  int failures_ = 0;  // of the current one
  bool read_any_ = false;
  absl::Status first_failure_;
  std::unique_ptr<kube::Watch> stream_;
  Owner owner_;
};

}  // namespace gangway::cmd
