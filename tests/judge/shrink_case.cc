#include "tests/judge/shrink_case.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

namespace gangway::testutil {
namespace {

namespace json = boost::json;

// Indexes of members and elements, from the outside.
using Path = std::vector<std::size_t>;

struct Part {
  Path path;
  std::size_t size = 0;  // values in it
};

std::size_t AddParts(const json::value& value, Path& path, std::vector<Part>& parts) {
  std::size_t size = 1;
  const auto add = [&](std::size_t i, const json::value& inner) {
    path.push_back(i);
    const std::size_t place = parts.size();
    parts.push_back({path, 0});
    const std::size_t inner_size = AddParts(inner, path, parts);
    parts[place].size = inner_size;
    size += inner_size;
    path.pop_back();
  };
  if (const json::object* const object = value.if_object()) {
    std::size_t i = 0;
    for (const auto& member : *object) add(i++, member.value());
  } else if (const json::array* const array = value.if_array()) {
    for (std::size_t i = 0; i < array->size(); ++i) add(i, (*array)[i]);
  }
  return size;
}

bool Within(const Path& inner, const Path& outer) {
  return inner.size() >= outer.size() && std::equal(outer.begin(), outer.end(), inner.begin());
}

json::value Without(const json::value& value, Path& at, const std::vector<Path>& left_out) {
  const auto is_out = [&] { return std::find(left_out.begin(), left_out.end(), at) != left_out.end(); };
  if (const json::object* const object = value.if_object()) {
    json::object kept;
    std::size_t i = 0;
    for (const auto& member : *object) {
      at.push_back(i++);
      if (!is_out()) kept[member.key()] = Without(member.value(), at, left_out);
      at.pop_back();
    }
    return kept;
  }
  if (const json::array* const array = value.if_array()) {
    json::array kept;
    for (std::size_t i = 0; i < array->size(); ++i) {
      at.push_back(i);
      if (!is_out()) kept.push_back(Without((*array)[i], at, left_out));
      at.pop_back();
    }
    return kept;
  }
  return value;
}

json::object Without(const json::object& shown, const std::vector<Path>& left_out) {
  Path at;
  return std::move(Without(json::value(shown), at, left_out).as_object());
}

}  // namespace

json::object ShrinkCase(json::object shown, const StillShows& still_shows) {
  constexpr std::size_t kAtOnce = 300;
  for (std::size_t begin = 0;;) {
    std::vector<Part> parts;
    Path path;
    AddParts(json::value(shown), path, parts);
    std::stable_sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.size > b.size; });
    if (begin >= parts.size()) return shown;
    const std::size_t end = std::min(parts.size(), begin + kAtOnce);
    std::vector<json::object> tries;
    for (std::size_t i = begin; i < end; ++i) tries.push_back(Without(shown, {parts[i].path}));
    const std::vector<bool> shows = still_shows(tries);
    std::vector<Path> loose;  // each can be left out alone
    for (std::size_t i = begin; i < end; ++i) {
      const Path& each = parts[i].path;
      if (shows[i - begin] &&
          std::none_of(loose.begin(), loose.end(), [&](const Path& outer) { return Within(each, outer); }))
        loose.push_back(each);
    }
    if (loose.empty()) {
      begin = end;
      continue;
    }
    // As many at once as go together: all, the larger half, ...; one does.
    tries.clear();
    for (std::size_t count = loose.size(); count > 0; count /= 2) {
      tries.push_back(Without(shown, {loose.begin(), loose.begin() + static_cast<std::ptrdiff_t>(count)}));
    }
    const std::vector<bool> together = still_shows(tries);
    const auto first = std::find(together.begin(), together.end(), true);
    shown = std::move(
        tries[first == together.end() ? tries.size() - 1 : static_cast<std::size_t>(first - together.begin())]);
    begin = 0;
  }
}

}  // namespace gangway::testutil
