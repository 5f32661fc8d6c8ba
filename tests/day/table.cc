#include "tests/day/table.h"

#include <algorithm>
#include <functional>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"

namespace gangway::day {

namespace {

std::string Span(Seconds seconds) {
  if (seconds < 60) return absl::StrCat(seconds, " s");
  if (seconds < 2 * 3600) return absl::StrFormat("%.1f min", seconds / 60.0);
  return absl::StrFormat("%.1f h", seconds / 3600.0);
}

Seconds Percentile(const std::vector<Seconds>& sorted, double part) {
  const auto at = static_cast<std::size_t>(part * static_cast<double>(sorted.size()));
  return sorted[std::min(at, sorted.size() - 1)];
}

}  // namespace

std::string TableOf(const std::vector<Told>& told) {
  std::string text =
      "| | last job ends | GPUs used in the day | held in vain, GPU hours | short of shares, mean | most | gangs "
      "evicted, one at most "
      "| lost: pod hours, GPU hours | never ran |\n|---|---|---|---|---|---|---|---|---|\n";
  for (const auto& [name, outcome] : told) {
    absl::StrAppendFormat(&text, "| %s | %.1f h | %.1f%% | %.0f | %.1f%% | %.0f%% | %d, %d | %.0f, %.0f | %d |\n", name,
                          outcome.ends / 3600.0, 100 * outcome.used_in_day, outcome.held_in_vain,
                          100 * outcome.short_of_share, 100 * outcome.most_short, outcome.evictions,
                          outcome.most_of_one, outcome.lost_pod_hours, outcome.lost_gpu_hours, outcome.stuck.size());
  }
  return text;
}

namespace {

struct Group {
  std::string name;
  std::function<bool(const Job&)> has;
};

std::string WaitsOfGroups(const Workload& workload, const std::vector<Told>& told, const std::vector<Group>& groups) {
  std::string text = "| |", line = "|---|";
  for (const Group& group : groups) {
    absl::StrAppend(&text, " ", group.name, " |");
    line += "---|";
  }
  absl::StrAppend(&text, "\n", line, "\n");
  for (const auto& [name, outcome] : told) {
    absl::StrAppend(&text, "| ", name, " |");
    for (const Group& group : groups) {
      std::vector<Seconds> waits;
      for (const Wait& wait : outcome.waits) {
        if (group.has(workload.jobs[static_cast<std::size_t>(wait.job)])) waits.push_back(wait.waited);
      }
      std::sort(waits.begin(), waits.end());
      if (waits.empty()) {
        text += " - |";
      } else {
        absl::StrAppend(&text, " ", Span(Percentile(waits, 0.5)), " / ", Span(Percentile(waits, 0.99)), " / ",
                        Span(waits.back()), " |");
      }
    }
    text += "\n";
  }
  return text;
}

}  // namespace

std::string WaitsOf(const Workload& workload, const std::vector<Told>& told) {
  std::vector<Group> groups;
  for (const SizeClass& size : SizeClasses()) {
    if (size.from <= workload.plan.largest)
      groups.push_back({size.Name(), [size](const Job& job) { return job.pods >= size.from && job.pods <= size.to; }});
  }
  groups.push_back({"all", [](const Job&) { return true; }});
  return WaitsOfGroups(workload, told, groups);
}

std::string WaitsByQueue(const Workload& workload, const std::vector<Told>& told) {
  std::vector<Group> groups;
  double weights = 0, all = 0;
  std::vector<double> asked(workload.queues.size(), 0);
  for (const QueueOf& queue : workload.queues) weights += queue.weight;
  for (const Job& job : workload.jobs) {
    asked[static_cast<std::size_t>(job.queue)] += static_cast<double>(job.all_gpus()) * job.runs;
    all += static_cast<double>(job.all_gpus()) * job.runs;
  }
  for (std::size_t i = 0; i < workload.queues.size(); ++i) {
    groups.push_back({absl::StrFormat("%s: weight %.0f%%, asks %.0f%%", workload.queues[i].name,
                                      100 * workload.queues[i].weight / weights, 100 * asked[i] / all),
                      [i](const Job& job) { return job.queue == static_cast<int>(i); }});
  }
  return WaitsOfGroups(workload, told, groups);
}

std::string Picture(const std::string& title, const std::string& unit, double most, Seconds until,
                    const std::vector<std::pair<std::string, std::vector<std::pair<Seconds, double>>>>& lines) {
  constexpr double kLeft = 60, kTop = 40, kWide = 760, kHigh = 260;
  static constexpr const char* kColours[] = {"#0b6e99", "#7fb7d0", "#d9730d", "#9b9a97",
                                             "#b83280", "#2f855a", "#6b46c1"};
  std::string svg = absl::StrFormat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 1060 350\" font-family=\"sans-serif\" "
      "font-size=\"12\">\n"
      "<rect width=\"1060\" height=\"350\" fill=\"white\"/>\n<text x=\"%g\" y=\"22\" font-size=\"15\">%s</text>\n",
      kLeft, absl::StrReplaceAll(title, {{"&", "&amp;"}, {"<", "&lt;"}}));
  for (int i = 0; i <= 4; ++i) {
    const double y = kTop + kHigh * (1 - i / 4.0);
    absl::StrAppendFormat(
        &svg, "<path d=\"M%g %gh%g\" stroke=\"#ddd\"/><text x=\"%g\" y=\"%g\" text-anchor=\"end\">%g%s</text>\n", kLeft,
        y, kWide, kLeft - 6, y + 4, most * i / 4, unit);
  }
  const int hours = until / 3600, step = std::max(1, (hours + 11) / 12);
  for (int hour = 0; hour <= hours; hour += step) {
    absl::StrAppendFormat(&svg, "<text x=\"%g\" y=\"%g\" text-anchor=\"middle\">%d h</text>\n",
                          kLeft + kWide * hour * 3600 / until, kTop + kHigh + 18, hour);
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const char* const colour = kColours[i % std::size(kColours)];
    std::string path;
    for (const auto& [at, value] : lines[i].second) {
      if (at > until) break;
      absl::StrAppendFormat(&path, "%s%.1f %.1f", path.empty() ? "M" : "L", kLeft + kWide * at / until,
                            kTop + kHigh * (1 - std::min(value, most) / most));
    }
    if (!path.empty())
      absl::StrAppendFormat(&svg, "<path d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\"/>\n", path, colour);
    const double y = kTop + 14 + 20 * static_cast<double>(i);
    absl::StrAppendFormat(
        &svg, "<path d=\"M835 %gh18\" stroke=\"%s\" stroke-width=\"3\"/><text x=\"858\" y=\"%g\">%s</text>\n", y - 4,
        colour, y, lines[i].first);
  }
  return svg + "</svg>\n";
}

}  // namespace gangway::day
