#include "cmd/dashboard/page/rows.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/field_table.h"
#include "base/hash.h"
#include "base/printable.h"
#include "cmd/dashboard/page/html.h"
#include "plugin/model/resources.h"

namespace gangway::dashboard {
namespace {

constexpr std::size_t kMaxNodes = 64;    // named of one job
constexpr std::size_t kMaxMoments = 40;  // the newest of one job's life
constexpr std::size_t kMaxName = 550;    // of what is an id as it is; three of Kubernetes' names and room to spare
constexpr std::uint64_t kColours = 12;   // of holders, in the style sheet

class Writer {
 public:
  explicit Writer(Lang lang) : lang_(lang) {}

  absl::string_view T(Word word) const { return TextOf(word, lang_); }

  HtmlRow Of(const QueueRow& row) const {
    HtmlRow out = Begin("tr", "q:", row.name);
    absl::StrAppend(&out.html, "<th scope=\"row\">", Escaped(row.name), Tag(row.state == "Open" ? "" : row.state),
                    row.parent.empty() ? "" : absl::StrCat(" <small>", Escaped(row.parent), "</small>"), "</th><td>",
                    row.share_permille / 10, ".", row.share_permille % 10, "% <small>(", row.weight,
                    ")</small></td><td>", Amounts(row.held), Bar(row), "</td><td>",
                    row.deserved.empty() ? std::string(T(Word::kNotTold)) : Amounts(row.deserved));
    if (!row.capability.empty())
      absl::StrAppend(&out.html, "<br><small>", T(Word::kCapability), " ", Amounts(row.capability), "</small>");
    absl::StrAppend(&out.html, "</td><td>", row.waiting);
    if (!row.asked.empty())
      absl::StrAppend(&out.html, " <small>", T(Word::kAsked), " ", Amounts(row.asked), "</small>");
    absl::StrAppend(&out.html, "</td><td>", row.running, "</td></tr>");
    return out;
  }

  HtmlRow Of(const GangRow& row) const {
    HtmlRow out = Begin("tr", "g:", absl::StrCat(row.ns, "/", row.name),
                        row.state == GangState::kWaiting ? "waits"
                        : row.state == GangState::kEnded ? "ended"
                                                         : "");
    absl::StrAppend(&out.html, "<th scope=\"row\">", Escaped(row.ns), "/",
                    Escaped(row.owner.empty() ? row.name : row.owner), "</th><td>", Escaped(row.queue), "</td><td>",
                    Phase(row.phase), "</td><td>", row.placed, "/", row.min_member, " <small>(", row.pods, " ",
                    T(Word::kPods), ")</small></td><td>", Time(row.since), "</td><td>", Reason(row), "</td></tr>");
    return out;
  }

  HtmlRow Of(const NodeRow& row) const {
    HtmlRow out = Begin("div", "n:", row.name, row.ready && !row.cordoned ? "node" : "node off");
    absl::StrAppend(&out.html, "<b>", Escaped(row.name), "</b> <span>", model::AmountText(row.leading, row.held), "/",
                    model::AmountText(row.leading, row.allocatable), " ", Escaped(row.leading), "</span>", Map(row),
                    "<small>", Amounts(row.all_held));
    if (!row.ready) absl::StrAppend(&out.html, " · ", T(Word::kNotReady));
    if (row.cordoned) absl::StrAppend(&out.html, " · ", T(Word::kCordoned));
    if (row.taints > 0) absl::StrAppend(&out.html, " · ", row.taints, " ", T(Word::kTaints));
    absl::StrAppend(&out.html, "</small></div>");
    return out;
  }

  HtmlRow Of(const JobRow& row) const {
    HtmlRow out = Begin("details", "j:", absl::StrCat(row.ns, "/", row.name), row.ended ? "ended" : "");
    absl::StrAppend(&out.html, "<summary><b>", Escaped(row.ns), "/", Escaped(row.name), "</b> ", Phase(row.phase),
                    " <span>", Escaped(row.queue), "</span> <span>", Tasks(row.tasks), "</span>");
    if (row.restarts > 0)
      absl::StrAppend(&out.html, " <span class=\"warn\">", row.restarts, "/", row.most_restarts, " ",
                      T(Word::kRestarts), "</span>");
    absl::StrAppend(&out.html, "</summary><ol>");
    const std::size_t first = row.life.size() > kMaxMoments ? row.life.size() - kMaxMoments : 0;
    for (std::size_t i = first; i < row.life.size(); ++i) absl::StrAppend(&out.html, Step(row.life[i]));
    absl::StrAppend(&out.html, "</ol>");
    if (!row.message.empty()) absl::StrAppend(&out.html, "<p>", Escaped(row.message), "</p>");
    if (!row.nodes.empty()) {
      const std::size_t shown = std::min(row.nodes.size(), kMaxNodes);
      absl::StrAppend(&out.html, "<p>", T(Word::kNodes), ": ",
                      absl::StrJoin(row.nodes.begin(), row.nodes.begin() + static_cast<std::ptrdiff_t>(shown), ", ",
                                    [](std::string* to, const std::string& name) { to->append(Escaped(name)); }),
                      shown < row.nodes.size() ? absl::StrCat(" +", row.nodes.size() - shown) : "", "</p>");
    }
    absl::StrAppend(&out.html, "</details>");
    return out;
  }

  HtmlRow Of(const PaddleRow& row) const {
    HtmlRow out = Begin("tr", "p:", absl::StrCat(row.group, "/", row.ns, "/", row.name), row.ended ? "ended" : "");
    absl::StrAppend(&out.html, "<th scope=\"row\">", Escaped(row.ns), "/", Escaped(row.name), " <small>",
                    Escaped(row.group), "</small></th><td>", Phase(row.phase), "</td><td>", Escaped(row.mode),
                    "</td><td>", Escaped(row.queue), "</td><td>");
    for (const RoleRow& role : row.roles) {
      absl::StrAppend(&out.html, "<span class=\"role\">", Escaped(role.name), " ", role.running, "/", role.wanted,
                      Count(role.pending, "Pending"), Count(role.succeeded, "Succeeded"), Count(role.failed, "Failed"),
                      "</span> ");
    }
    if (row.restarts > 0)
      absl::StrAppend(&out.html, "<span class=\"warn\">", row.restarts, " ", T(Word::kRestarts), "</span>");
    absl::StrAppend(&out.html, "</td><td>", T(Word::kCreated), " ", Time(row.created));
    if (row.started != absl::InfinitePast())
      absl::StrAppend(&out.html, "<br>", T(Word::kStarted), " ", Time(row.started));
    if (row.completed != absl::InfinitePast())
      absl::StrAppend(&out.html, "<br>", T(Word::kCompleted), " ", Time(row.completed));
    absl::StrAppend(&out.html, "</td><td>", Escaped(row.message), "</td></tr>");
    return out;
  }

  HtmlRow Problem(std::size_t index, absl::string_view text) const {
    HtmlRow out = Begin("p", "w:", absl::StrCat(index), "warn");
    absl::StrAppend(&out.html, T(Word::kNotSeen), ": ", Escaped(text), "</p>");
    return out;
  }

  HtmlRow More(Part part, std::size_t count) const {
    const char* const tag = part == Part::kNodes || part == Part::kJobs ? "p" : "tr";
    HtmlRow out = Begin(tag, "more:", NameOf(part));
    const bool row = part != Part::kNodes && part != Part::kJobs;
    absl::StrAppend(&out.html, row ? "<td colspan=\"7\">" : "", count, " ", T(Word::kMore), row ? "</td>" : "", "</",
                    tag, ">");
    return out;
  }

 private:
  static HtmlRow Begin(absl::string_view tag, absl::string_view kind, absl::string_view name,
                       absl::string_view classes = "") {
    HtmlRow out;
    // The same in HTML and in what an open page is sent: no queue is needed for a PodGroup to name one, whatever it is
    // called.
    const bool plain = name.size() <= kMaxName && OneLine(name) == name;
    out.id = plain ? absl::StrCat(kind, name) : absl::StrCat(kind, "~", absl::Hex(StableHash(name)));
    out.html = absl::StrCat("<", tag, " id=\"", Escaped(out.id), "\"",
                            classes.empty() ? "" : absl::StrCat(" class=\"", classes, "\""), ">");
    return out;
  }

  static std::string Time(absl::Time at) {
    if (at <= absl::InfinitePast() || at >= absl::InfiniteFuture()) return "";
    const std::string text = api::FormatTime(at);
    return absl::StrCat("<time datetime=\"", text, "\">", text, "</time>");
  }
  static std::string Phase(absl::string_view phase) {
    const char* const tone = phase == "Running" || phase == "Completed" || phase == "Succeeded" ? "good"
                             : phase == "Failed" || phase == "Terminated" || phase == "Aborted" ? "bad"
                                                                                                : "wait";
    return phase.empty() ? "" : absl::StrCat("<em class=\"", tone, "\">", Escaped(phase), "</em>");
  }
  static std::string Tag(absl::string_view text) {
    return text.empty() ? "" : absl::StrCat(" <em class=\"wait\">", Escaped(text), "</em>");
  }
  static std::string Count(int count, absl::string_view what) {
    return count > 0 ? absl::StrCat(" ", count, " ", what) : "";
  }

  std::string Amounts(const model::NamedAmounts& amounts) const {
    std::string out;
    for (const auto& [name, amount] : amounts) {
      if (amount == 0) continue;
      absl::StrAppend(&out, out.empty() ? "" : ", ", Escaped(name), " ", model::AmountText(name, amount));
    }
    return out.empty() ? std::string(T(Word::kNothing)) : out;
  }

  // What it holds of the first resource that it deserves: a full bar is all it deserves.
  static std::string Bar(const QueueRow& row) {
    for (const auto& [name, deserved] : row.deserved) {
      if (deserved <= 0) continue;
      const std::int64_t held = AmountOf(row.held, name);
      const auto width = static_cast<int>(PartOf(100, held, deserved));
      return absl::StrCat("<svg viewBox=\"0 0 100 4\" preserveAspectRatio=\"none\" aria-hidden=\"true\"><rect width=\"",
                          width, "\" height=\"4\" class=\"", held > deserved ? "over" : "held", "\"/></svg>");
    }
    return "";
  }

  // Of `whole` units as many as `amount` is of `of`; none to all of them, whatever a hostile pod asks for.
  static double PartOf(double whole, std::int64_t amount, std::int64_t of) {
    if (amount <= 0 || of <= 0) return 0;
    return std::min(whole, whole * static_cast<double>(amount) / static_cast<double>(of));
  }

  static std::string Map(const NodeRow& row) {
    std::string out =
        "<svg viewBox=\"0 0 1000 10\" preserveAspectRatio=\"none\"><rect width=\"1000\" height=\"10\" class=\"free\"/>";
    std::int64_t left = 0;
    for (const Holder& holder : row.holders) {
      const auto width = std::min(static_cast<std::int64_t>(PartOf(1000, holder.amount, row.allocatable)), 1000 - left);
      const std::string name = absl::StrCat(holder.ns, "/", holder.name);
      absl::StrAppend(&out, "<rect x=\"", left, "\" width=\"", width, "\" height=\"10\" class=\"c",
                      StableHash(name) % kColours, "\"><title>", Escaped(name), " ",
                      model::AmountText(row.leading, holder.amount), " ", Escaped(row.leading), " (", holder.pods,
                      ")</title></rect>");
      left += width;
    }
    return out + "</svg>";
  }

  std::string Reason(const GangRow& row) const {
    if (row.state != GangState::kWaiting) return "";
    if (!row.reason.empty()) return Escaped(row.reason);
    return std::string(T(row.phase == "Inqueue" ? Word::kLetIn : Word::kNotLetIn));
  }

  static std::string Tasks(const std::vector<TaskRow>& tasks) {
    return absl::StrJoin(tasks, " + ", [](std::string* out, const TaskRow& task) {
      absl::StrAppend(out, Escaped(task.name), " ", task.running, "/", task.replicas, Count(task.pending, "Pending"),
                      Count(task.succeeded, "Succeeded"), Count(task.failed, "Failed"));
    });
  }

  std::string Step(const Moment& moment) const {
    absl::string_view what, tone;
    switch (moment.what) {
      case Moment::What::kCreated:
        what = T(Word::kCreated);
        break;
      case Moment::What::kAdmitted:
        what = T(Word::kAdmitted);
        break;
      case Moment::What::kPlaced:
        what = T(Word::kPlaced);
        break;
      case Moment::What::kPhase:
        break;
      case Moment::What::kFailed:
        what = T(Word::kFailed);
        tone = " class=\"bad\"";
        break;
      case Moment::What::kAction:
        what = T(Word::kAction);
        break;
      case Moment::What::kWarning:
        what = T(Word::kWarning);
        tone = " class=\"warn\"";
        break;
    }
    return absl::StrCat("<li", tone, ">", Time(moment.at), " ", what, what.empty() || moment.text.empty() ? "" : ": ",
                        moment.what == Moment::What::kPhase ? Phase(moment.text) : Escaped(moment.text),
                        moment.count > 1 ? absl::StrCat(" ×", moment.count) : "", "</li>");
  }

  const Lang lang_;
};

template <class Row>
void Fill(const Writer& writer, Part part, const std::vector<Row>& rows, PartRows& out) {
  out.count = rows.size();
  const std::size_t shown = std::min(rows.size(), kMaxRows);
  out.rows.reserve(shown + 1);
  for (std::size_t i = 0; i < shown; ++i) out.rows.push_back(writer.Of(rows[i]));
  if (shown < rows.size()) out.rows.push_back(writer.More(part, rows.size() - shown));
}

}  // namespace

absl::string_view NameOf(Part part) {
  switch (part) {
    case Part::kTop:
      return "top";
    case Part::kQueues:
      return "queues";
    case Part::kGangs:
      return "gangs";
    case Part::kNodes:
      return "nodes";
    case Part::kJobs:
      return "jobs";
    case Part::kPaddleJobs:
      return "paddlejobs";
  }
  return "";
}

SheetRows RowsOf(const View& view, Lang lang) {
  const Writer writer(lang);
  SheetRows out;
  const auto at = [&](Part part) -> PartRows& { return out[static_cast<std::size_t>(part)]; };
  for (std::size_t i = 0; i < view.not_seen.size(); ++i)
    at(Part::kTop).rows.push_back(writer.Problem(i, view.not_seen[i]));
  Fill(writer, Part::kQueues, view.queues, at(Part::kQueues));
  Fill(writer, Part::kGangs, view.gangs, at(Part::kGangs));
  Fill(writer, Part::kNodes, view.nodes, at(Part::kNodes));
  Fill(writer, Part::kJobs, view.jobs, at(Part::kJobs));
  Fill(writer, Part::kPaddleJobs, view.paddle_jobs, at(Part::kPaddleJobs));
  return out;
}

}  // namespace gangway::dashboard
