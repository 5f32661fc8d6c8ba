#include "cmd/simulate/course_text.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "api/duration.h"
#include "api/field_table.h"
#include "api/json.h"
#include "base/counted.h"
#include "base/printable.h"
#include "base/strings.h"
#include "cmd/terminal/columns.h"

namespace gangway::cmd {
namespace {

using simulate::Course;
using simulate::Story;
using simulate::Stretch;

std::string DurationText(absl::Duration duration) {
  return api::FormatGoDuration(absl::Trunc(duration, absl::Seconds(1)));
}

// From the beginning: "+2h30m0s"; of what was before, "-3h0m0s".
std::string MomentText(const Course& course, absl::Time at) {
  const absl::Duration after = at - course.from;
  return after < absl::ZeroDuration() ? DurationText(after) : absl::StrCat("+", DurationText(after));
}

// Until it began; of who never does, until nothing happens any more.
absl::Duration Waited(const Course& course, const Story& story) {
  return std::max(story.started.value_or(course.to) - story.came, absl::ZeroDuration());
}

std::string PartsText(const simulate::QueueUse& queue) {
  std::vector<std::string> words;
  for (const auto& [name, part] : queue.held) {
    if (part >= 0.0005) words.push_back(OneLine(absl::StrFormat("%s=%.1f%%", name, 100 * part)));
  }
  return words.empty() ? "-" : absl::StrJoin(words, ",");
}

// The median, the 99th percentile and the longest of a queue's waits.
std::vector<std::string> WaitsText(const Course& course, const std::string& queue) {
  std::vector<absl::Duration> waits;
  for (const Story& story : course.gangs) {
    if (story.queue == queue) waits.push_back(Waited(course, story));
  }
  std::sort(waits.begin(), waits.end());
  std::vector<std::string> out;
  for (const std::size_t percent : {50u, 99u, 100u})
    out.push_back(waits.empty() ? "-" : DurationText(waits[(waits.size() - 1) * percent / 100]));
  return out;
}

std::string GangText(const Story& story) { return OneLine(absl::StrCat(story.ns, "/", story.name)); }

// ---- the chart

constexpr int kRow = 14, kLeft = 260, kWidth = 960, kTop = 64;
// Told apart by those who do not see red and green, too (Okabe and Ito).
constexpr const char* kColours[] = {"#0072b2", "#e69f00", "#009e73", "#cc79a7",
                                    "#56b4e9", "#d55e00", "#999933", "#666666"};

class Chart {
 public:
  Chart(const Course& course, std::size_t gangs)
      : course_(course), gangs_(gangs), span_(std::max(course.to - course.from, absl::Seconds(1))) {
    for (std::size_t i = 0; i < course.queues.size(); ++i)
      colours_[course.queues[i].name] = kColours[i % (sizeof(kColours) / sizeof(kColours[0]))];
  }

  std::string Draw() {
    const int height = kTop + static_cast<int>(gangs_) * kRow + 30;
    absl::StrAppendFormat(
        &out_,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" "
        "font-size=\"10\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
        kLeft + kWidth + 20, height);
    Text(
        8, 18,
        absl::StrCat("From ", api::FormatTime(course_.from), " for ", DurationText(course_.to - course_.from), ": ",
                     Counted(course_.nodes, "node"), ", ", Counted(course_.gangs.size(), "gang"),
                     gangs_ < course_.gangs.size() ? absl::StrCat(", of which the first ", gangs_, " are drawn") : ""));
    Legend();
    Axis(height - 24);
    for (std::size_t i = 0; i < gangs_; ++i) Gang(course_.gangs[i], kTop + static_cast<int>(i) * kRow);
    out_ += "</svg>\n";
    return std::move(out_);
  }

 private:
  double X(absl::Time at) const {
    return kLeft + kWidth * std::clamp(absl::FDivDuration(at - course_.from, span_), 0.0, 1.0);
  }
  void Text(double x, double y, absl::string_view text) {
    absl::StrAppendFormat(&out_, "<text x=\"%.1f\" y=\"%.1f\">%s</text>\n", x, y, MarkupText(text));
  }
  void Bar(absl::Time from, absl::Time to, int y, absl::string_view colour, absl::string_view about) {
    absl::StrAppendFormat(
        &out_, "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"><title>%s</title></rect>\n", X(from),
        y, std::max(X(to) - X(from), 0.5), kRow - 4, colour, MarkupText(about));
  }

  void Legend() {
    double x = 8;
    const auto entry = [&](absl::string_view name, absl::string_view colour) {
      absl::StrAppendFormat(&out_, "<rect x=\"%.1f\" y=\"28\" width=\"10\" height=\"10\" fill=\"%s\"/>\n", x, colour);
      Text(x + 14, 37, name);
      x += 30 + 6.0 * static_cast<double>(name.size());
    };
    entry("waits", "#d0d0d0");
    for (const auto& [name, colour] : colours_) entry(name, colour);
  }
  void Axis(int bottom) {
    for (int i = 0; i <= 8; ++i) {
      const absl::Time at = course_.from + span_ * i / 8;
      absl::StrAppendFormat(&out_, "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" stroke=\"#eee\"/>\n", X(at),
                            kTop - 6, X(at), bottom);
      Text(X(at) - 12, bottom + 14, MomentText(course_, at));
    }
  }
  void Gang(const Story& story, int y) {
    Text(8, y + kRow - 5, absl::StrCat(GangText(story), " (", story.pods, ")"));
    absl::Time waits_from = story.came;
    for (const Stretch& ran : story.ran) {
      if (ran.from > waits_from) Wait(story, waits_from, ran.from, y);
      Bar(ran.from, ran.to, y, colours_[story.queue],
          absl::StrCat(GangText(story), " in ", story.queue, ": ran for ", DurationText(ran.to - ran.from)));
      waits_from = ran.to;
    }
    if (!story.ended.has_value() && waits_from < course_.to) Wait(story, waits_from, course_.to, y);
  }
  void Wait(const Story& story, absl::Time from, absl::Time to, int y) {
    Bar(from, to, y, "#d0d0d0",
        absl::StrCat(GangText(story), ": waited for ", DurationText(to - from),
                     story.waits.empty() ? "" : absl::StrCat("; ", story.waits.front().reason)));
  }

  const Course& course_;
  const std::size_t gangs_;
  const absl::Duration span_;
  std::map<std::string, std::string> colours_;
  std::string out_;
};

}  // namespace

std::string JobNameOf(const std::string& group) {
  constexpr std::size_t kUid = 36;
  if (group.size() <= kUid + 1 || group[group.size() - kUid - 1] != '-') return group;
  const std::string uid = group.substr(group.size() - kUid);
  for (const std::size_t dash : {8u, 13u, 18u, 23u}) {
    if (uid[dash] != '-') return group;
  }
  return group.substr(0, group.size() - kUid - 1);
}

std::string CourseText(const Course& course) {
  std::vector<std::vector<std::string>> queues{{"QUEUE", "GANGS", "ENDED", "WAIT", "99TH", "LONGEST", "HELD"}};
  for (const simulate::QueueUse& queue : course.queues) {
    std::vector<std::string> row{OneLine(queue.name), absl::StrCat(queue.gangs), absl::StrCat(queue.ended)};
    for (std::string& wait : WaitsText(course, queue.name)) row.push_back(std::move(wait));
    row.push_back(PartsText(queue));
    queues.push_back(std::move(row));
  }
  std::vector<std::vector<std::string>> gangs{
      {"GANG", "QUEUE", "PODS", "COMES", "WAITS", "STARTS", "ENDS", "EVICTED", "MOVED", "MOSTLY"}};
  for (const Story& story : course.gangs) {
    gangs.push_back({GangText(story), OneLine(story.queue), absl::StrCat(story.pods), MomentText(course, story.came),
                     DurationText(Waited(course, story)),
                     story.started.has_value() ? MomentText(course, *story.started) : "never",
                     story.ended.has_value() ? MomentText(course, *story.ended) : "never", absl::StrCat(story.evicted),
                     absl::StrCat(story.moved),
                     story.waits.empty() || story.waits.front().lasted == absl::ZeroDuration()
                         ? "-"
                         : OneLine(story.waits.front().reason)});
  }
  return absl::StrCat("From ", api::FormatTime(course.from), " for ", DurationText(course.to - course.from), ": ",
                      Counted(course.nodes, "node"), ", ", Counted(course.gangs.size(), "gang"), "\n\n",
                      Columns(queues), "\n", Columns(gangs));
}

std::string CourseJson(const Course& course) {
  std::string out;
  api::JsonWriter json(out);
  json.BeginObject().Field("from", api::FormatTime(course.from)).Field("to", api::FormatTime(course.to));
  json.Field("nodes", course.nodes).Field("rounds", course.rounds);
  json.Key("queues").BeginArray();
  for (const simulate::QueueUse& queue : course.queues) {
    json.BeginObject().Field("name", queue.name).Field("gangs", queue.gangs).Field("ended", queue.ended);
    json.Key("heldPermille").BeginObject();
    for (const auto& [name, part] : queue.held) json.Field(name, std::int64_t{std::llround(1000 * part)});
    json.EndObject().EndObject();
  }
  json.EndArray().Key("gangs").BeginArray();
  for (const Story& story : course.gangs) {
    json.BeginObject().Field("namespace", story.ns).Field("job", story.name);
    json.Field("queue", story.queue).Field("pods", story.pods).Field("comes", api::FormatTime(story.came));
    json.Field("waitsSeconds", absl::ToInt64Seconds(Waited(course, story)));
    if (story.started.has_value()) json.Field("starts", api::FormatTime(*story.started));
    if (story.ended.has_value()) json.Field("ends", api::FormatTime(*story.ended));
    json.Field("evicted", story.evicted).Field("moved", story.moved).Key("ran").BeginArray();
    for (const Stretch& ran : story.ran)
      json.BeginObject().Field("from", api::FormatTime(ran.from)).Field("to", api::FormatTime(ran.to)).EndObject();
    json.EndArray().Key("waits").BeginArray();
    for (const simulate::Wait& wait : story.waits) {
      json.BeginObject().Field("for", model::KindText(wait.kind));
      json.Field("seconds", absl::ToInt64Seconds(wait.lasted)).Field("reason", wait.reason).EndObject();
    }
    json.EndArray().EndObject();
  }
  json.EndArray().EndObject();
  return out + "\n";
}

std::string CourseSvg(const Course& course, std::size_t most) {
  return Chart(course, std::min(most, course.gangs.size())).Draw();
}

}  // namespace gangway::cmd
