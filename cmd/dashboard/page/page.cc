#include "cmd/dashboard/page/page.h"

#include <algorithm>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cmd/dashboard/page/html.h"

namespace gangway::dashboard {
namespace {

class PageWriter {
 public:
  PageWriter(const SheetRows& rows, const PageText& text)
      : rows_(rows), text_(text), wanted_(absl::AsciiStrToLower(Escaped(text.query))) {}

  std::string Write() {
    Head();
    absl::StrAppend(&out_, "<div data-rows=\"top\">");
    Rows(Part::kTop, 0, At(Part::kTop).rows.size());
    absl::StrAppend(&out_, "</div>");
    Table(Part::kQueues, Word::kQueues,
          {Word::kQueue, Word::kShare, Word::kHeld, Word::kDeserved, Word::kWaiting, Word::kRunning});
    Table(Part::kGangs, Word::kGangs,
          {Word::kGang, Word::kQueue, Word::kPhase, Word::kMembers, Word::kSince, Word::kWhy});
    Section(Part::kNodes, Word::kNodes, "<div class=\"map\" data-rows=\"nodes\">", "<div class=\"map\">", "</div>");
    Section(Part::kJobs, Word::kJobs, "<div data-rows=\"jobs\">", "<div>", "</div>");
    Table(Part::kPaddleJobs, Word::kPaddleJobs,
          {Word::kJob, Word::kPhase, Word::kMode, Word::kQueue, Word::kRoles, Word::kSince, Word::kWhy});
    absl::StrAppend(&out_, "</main><footer><details id=\"keys\"><summary>", T(Word::kKeys), " ( ? )</summary><p>",
                    T(Word::kKeysText), "</p></details></footer></body></html>\n");
    return std::move(out_);
  }

 private:
  absl::string_view T(Word word) const { return TextOf(word, text_.lang); }
  const PartRows& At(Part part) const { return rows_[static_cast<std::size_t>(part)]; }

  void Head() {
    const Lang other = text_.lang == Lang::kEnglish ? Lang::kChinese : Lang::kEnglish;
    absl::StrAppend(
        &out_, "<!doctype html><html lang=\"", CodeOf(text_.lang),
        "\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
        "<meta name=\"color-scheme\" content=\"light dark\"><title>Gangway</title>"
        "<link rel=\"icon\" href=\"/icon.svg\"><link rel=\"stylesheet\" href=\"/dashboard.css\">"
        "<script src=\"/dashboard.js\" defer></script>",
        // Whose browser runs no scripts would see it empty for ever: reading begins with the first page.
        text_.reading ? "<noscript><meta http-equiv=\"refresh\" content=\"1\"></noscript>" : "",
        "</head><body data-version=\"", Escaped(text_.version), "\" data-live=\"", T(Word::kLive), "\" data-broken=\"",
        T(Word::kBroken), "\"><header><h1>Gangway</h1><span>", Escaped(text_.server),
        "</span><span id=\"live\" role=\"status\">", text_.reading ? T(Word::kReading) : "",
        "</span><form role=\"search\"><input type=\"hidden\" name=\"lang\" value=\"", CodeOf(text_.lang),
        "\"><input type=\"search\" name=\"q\" id=\"search\" autocomplete=\"off\" aria-label=\"", T(Word::kSearch),
        "\" placeholder=\"", T(Word::kSearch), "\" value=\"", Escaped(text_.query), "\"></form><nav>");
    for (const auto& [part, word] : {std::pair(Part::kQueues, Word::kQueues),
                                     {Part::kGangs, Word::kGangs},
                                     {Part::kNodes, Word::kNodes},
                                     {Part::kJobs, Word::kJobs},
                                     {Part::kPaddleJobs, Word::kPaddleJobs}}) {
      absl::StrAppend(&out_, "<a href=\"#", NameOf(part), "\">", T(word), "</a> ");
    }
    absl::StrAppend(&out_, "<a href=\"/?lang=", CodeOf(other), "\" hreflang=\"", CodeOf(other), "\" lang=\"",
                    CodeOf(other), "\">", T(Word::kOthers), "</a></nav></header><main>");
  }

  void Table(Part part, Word title, const std::vector<Word>& columns) {
    std::string open = "<table><thead><tr>";
    for (const Word column : columns) absl::StrAppend(&open, "<th scope=\"col\">", T(column), "</th>");
    absl::StrAppend(&open, "</tr></thead><tbody data-rows=\"", NameOf(part), "\">");
    Section(part, title, open, "<table><tbody>", "</tbody></table>");
  }

  // The rows of the first paint in `open`, the others in `open_rest`: a browser with scripts reads what is in
  // <noscript> as one text, without making anything of it, and dashboard.js takes it from there.
  void Section(Part part, Word title, absl::string_view open, absl::string_view open_rest, absl::string_view close) {
    const std::size_t count = At(part).rows.size(), first = std::min(count, kFirstRows);
    absl::StrAppend(&out_, "<section id=\"", NameOf(part), "\" tabindex=\"-1\"><h2>", T(title),
                    " <small id=\"count:", NameOf(part), "\">", At(part).count, "</small></h2>", open);
    Rows(part, 0, first);
    absl::StrAppend(&out_, close);
    if (first < count) {
      absl::StrAppend(&out_, "<noscript>", open_rest);
      Rows(part, first, count);
      absl::StrAppend(&out_, close, "</noscript>");
    }
    out_ += "</section>";
  }

  void Rows(Part part, std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) {
      const HtmlRow& row = At(part).rows[i];
      if (wanted_.empty() || absl::StrContains(absl::AsciiStrToLower(WithoutTags(row.html)), wanted_)) {
        out_ += row.html;
        continue;
      }
      const std::size_t name_end = row.html.find(' ');  // each row's element has an id
      absl::StrAppend(&out_, row.html.substr(0, name_end), " hidden", row.html.substr(name_end));
    }
  }

  const SheetRows& rows_;
  const PageText& text_;
  const std::string wanted_;
  std::string out_;
};

}  // namespace

std::string RenderPage(const SheetRows& rows, const PageText& text) { return PageWriter(rows, text).Write(); }

}  // namespace gangway::dashboard
