// The rows of a page as they come to be, and what has changed of them since a version: what an open page is sent.
// Used on one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/strings/string_view.h"
#include "cmd/dashboard/page/rows.h"

namespace gangway::dashboard {

class Sheet {
 public:
  // How many rows that are gone are remembered; a page that has not heard for longer begins anew.
  static constexpr std::size_t kMaxGone = 4096;

  // What is to be seen now. True: it differs from what was, and the version is one higher.
  bool Take(SheetRows rows);
  const SheetRows& rows() const { return rows_; }
  std::uint64_t version() const { return version_; }

  // JSON:
  // {"version":"<prefix>7","counts":{"queues":3,...},"rows":[{"part","id","after","html"}],"gone":["j:default/ctr"]}.
  // A row stands behind the one called `after`, "" at the beginning; taken in their order all end where they belong.
  // nullopt: it is not known any more what changed since.
  std::optional<std::string> ChangedSince(std::uint64_t version, absl::string_view prefix) const;

 private:
  SheetRows rows_;
  std::uint64_t version_ = 0;
  absl::btree_map<std::string, std::uint64_t> changed_;     // by id, the version
  std::deque<std::pair<std::uint64_t, std::string>> gone_;  // in the order of versions
  std::uint64_t forgotten_ = 0;                             // up to here what is gone is not known
};

}  // namespace gangway::dashboard
