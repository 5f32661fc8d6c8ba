#include "sandbox/cluster/pod_log.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "api/field_table.h"

namespace gangway::sandbox {

std::string RenderLog(const std::vector<LogLine>& lines, const LogQuery& query) {
  std::vector<const LogLine*> wanted;
  for (const LogLine& line : lines) {
    if (line.at >= query.since) wanted.push_back(&line);
  }
  std::size_t from = 0;
  if (query.tail_lines && static_cast<std::size_t>(*query.tail_lines) < wanted.size()) from = wanted.size() - static_cast<std::size_t>(*query.tail_lines);
  std::string text;
  for (std::size_t i = from; i < wanted.size(); ++i) {
    if (query.timestamps) absl::StrAppend(&text, api::FormatTime(wanted[i]->at), " ");
    absl::StrAppend(&text, wanted[i]->text, "\n");
  }
  if (query.limit_bytes && static_cast<std::size_t>(*query.limit_bytes) < text.size()) text.resize(static_cast<std::size_t>(*query.limit_bytes));
  return text;
}

}  // namespace gangway::sandbox
