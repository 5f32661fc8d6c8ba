// Each row of a view as HTML. Pure: the same row gives the same bytes, and the page of the first paint is made of the
// same rows as what comes later.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "cmd/dashboard/page/words.h"
#include "cmd/dashboard/view/view.h"

namespace gangway::dashboard {

// One element with that id. Ids are unique in a page.
struct HtmlRow {
  std::string id, html;
};

enum class Part : std::uint8_t { kTop, kQueues, kGangs, kNodes, kJobs, kPaddleJobs };
inline constexpr std::array kParts{Part::kTop,   Part::kQueues, Part::kGangs,
                                   Part::kNodes, Part::kJobs,   Part::kPaddleJobs};
absl::string_view NameOf(Part part);  // "queues"; also the id of its section

inline constexpr std::size_t kMaxRows = 2000;  // of a part; a last row says how many more there are

struct PartRows {
  std::vector<HtmlRow> rows;
  std::size_t count = 0;  // of the view, those that are not shown included
};
using SheetRows = std::array<PartRows, kParts.size()>;

SheetRows RowsOf(const View& view, Lang lang);

}  // namespace gangway::dashboard
