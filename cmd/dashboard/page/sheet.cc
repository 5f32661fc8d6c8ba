#include "cmd/dashboard/page/sheet.h"

#include "absl/strings/str_cat.h"
#include "api/json.h"

namespace gangway::dashboard {

bool Sheet::Take(SheetRows rows) {
  const std::uint64_t next = version_ + 1;
  bool differs = false;
  absl::btree_map<absl::string_view, const std::string*> before;
  for (const PartRows& part : rows_) {
    for (const HtmlRow& row : part.rows) before[row.id] = &row.html;
  }
  for (const Part part : kParts) {
    const auto index = static_cast<std::size_t>(part);
    differs = differs || rows[index].count != rows_[index].count;
    for (const HtmlRow& row : rows[index].rows) {
      const auto was = before.find(row.id);
      if (was == before.end() || *was->second != row.html) {
        changed_[row.id] = next;
        differs = true;
      }
      if (was != before.end()) before.erase(was);
    }
  }
  for (const auto& [id, html] : before) {
    changed_.erase(std::string(id));
    gone_.emplace_back(next, id);
    differs = true;
  }
  while (gone_.size() > kMaxGone) {
    forgotten_ = gone_.front().first;
    gone_.pop_front();
  }
  rows_ = std::move(rows);
  if (differs) version_ = next;
  return differs;
}

std::optional<std::string> Sheet::ChangedSince(std::uint64_t version, absl::string_view prefix) const {
  if (version < forgotten_ || version > version_) return std::nullopt;
  std::string out;
  api::JsonWriter json(out);
  json.BeginObject().Field("version", absl::StrCat(prefix, version_)).Key("counts").BeginObject();
  for (const Part part : kParts)
    json.Field(NameOf(part), static_cast<std::int64_t>(rows_[static_cast<std::size_t>(part)].count));
  json.EndObject().Key("rows").BeginArray();
  for (const Part part : kParts) {
    absl::string_view after;
    for (const HtmlRow& row : rows_[static_cast<std::size_t>(part)].rows) {
      if (changed_.at(row.id) > version) {
        json.BeginObject().Field("part", NameOf(part)).Field("id", row.id).Field("after", after);
        json.Field("html", row.html).EndObject();
      }
      after = row.id;
    }
  }
  json.EndArray().Key("gone").BeginArray();
  for (const auto& [at, id] : gone_) {
    if (at > version && !changed_.contains(id)) json.String(id);
  }
  json.EndArray().EndObject();
  return out;
}

}  // namespace gangway::dashboard
