#include "tests/plugin/extender/beside/picture.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace gangway::beside {
namespace {

constexpr double kLeft = 64, kWidth = 900, kRow = 10, kBetweenRacks = 5, kHead = 34, kFoot = 22;
// Told apart by those who do not see red and green, too (Okabe and Ito).
constexpr std::array<const char*, 7> kColours = {"#0072b2", "#e69f00", "#009e73", "#cc79a7",
                                                 "#56b4e9", "#d55e00", "#999933"};

class Drawing {
 public:
  Drawing(const Workload& workload, const std::vector<Panel>& panels, const std::vector<std::string>& coloured)
      : workload_(workload), panels_(panels), coloured_(coloured) {
    for (const Panel& panel : panels) {
      for (const Stay& stay : panel.outcome->stays) ends_ = std::max(ends_, stay.to);
    }
  }

  std::string Draw() {
    absl::StrAppendFormat(&out_,
                          "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" font-family=\"sans-serif\" "
                          "font-size=\"11\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
                          kLeft + kWidth + 16, PanelHeight() * static_cast<double>(panels_.size()));
    for (const Panel& panel : panels_) {
      Draw(panel);
      top_ += PanelHeight();
    }
    return std::move(out_) + "</svg>\n";
  }

 private:
  double PanelHeight() const {
    return kHead + workload_.nodes() * kRow + (workload_.racks - 1) * kBetweenRacks + kFoot;
  }
  double X(Seconds at) const { return kLeft + kWidth * at / ends_; }
  double Y(int node) const { return top_ + kHead + node * kRow + (node / workload_.nodes_per_rack) * kBetweenRacks; }

  void Draw(const Panel& panel) {
    absl::StrAppendFormat(&out_, "<text x=\"8\" y=\"%g\" font-size=\"13\">%s</text>\n", top_ + 20, panel.title);
    for (int rack = 0; rack < workload_.racks; ++rack) {
      const double y = Y(rack * workload_.nodes_per_rack);
      const double height = workload_.nodes_per_rack * kRow;
      absl::StrAppendFormat(&out_,
                            "<rect x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" fill=\"#f6f6f6\"/><text x=\"8\" "
                            "y=\"%g\">rack-%d</text>\n",
                            kLeft, y, kWidth, height, y + height / 2 + 4, rack);
    }
    const double foot = top_ + PanelHeight() - kFoot + 13;
    for (Seconds at = 0; at <= ends_; at += 60 * std::max(1.0, static_cast<double>(static_cast<int>(ends_ / 720))))
      absl::StrAppendFormat(&out_, "<text x=\"%.1f\" y=\"%g\" text-anchor=\"middle\" fill=\"#666\">%g min</text>\n",
                            X(at), foot, at / 60);
    Bars(*panel.outcome);
  }

  // Each on the first part of its node that is free then.
  void Bars(const Outcome& outcome) {
    struct Taken {
      std::int64_t from, milli;
      Seconds until;
    };
    std::vector<std::vector<Taken>> taken(static_cast<std::size_t>(workload_.nodes()));
    for (const Stay& stay : outcome.stays) {
      std::vector<Taken>& on = taken[static_cast<std::size_t>(stay.node)];
      std::erase_if(on, [&](const Taken& one) { return one.until <= stay.from; });
      const Job& job = workload_.jobs[static_cast<std::size_t>(stay.job)];
      std::int64_t from = 0;
      for (const Taken& one : on) {  // by where they begin
        if (from + job.milli <= one.from) break;
        from = std::max(from, one.from + one.milli);
      }
      from = std::min(from, workload_.node_milli - job.milli);  // in pieces: it overlaps what it cannot lie beside
      on.insert(std::find_if(on.begin(), on.end(), [&](const Taken& one) { return one.from > from; }),
                {from, job.milli, stay.to});
      Bar(stay, job, from);
    }
  }

  void Bar(const Stay& stay, const Job& job, std::int64_t from) {
    const auto part = [&](std::int64_t milli) {
      return (kRow - 1) * static_cast<double>(milli) / static_cast<double>(workload_.node_milli);
    };
    const auto named = std::find(coloured_.begin(), coloured_.end(), job.name);
    const char* const colour = named == coloured_.end()
                                   ? "#c8c8c8"
                                   : kColours[static_cast<std::size_t>(named - coloured_.begin()) % kColours.size()];
    const double y = Y(stay.node) + part(from), height = part(job.milli);
    absl::StrAppendFormat(&out_,
                          "<rect x=\"%.1f\" y=\"%.2f\" width=\"%.1f\" height=\"%.2f\" fill=\"%s\" stroke=\"#fff\" "
                          "stroke-width=\"0.3\"><title>%s</title></rect>\n",
                          X(stay.from), y, X(stay.to) - X(stay.from), height, colour, job.name);
    if (stay.evicted)
      absl::StrAppendFormat(&out_, "<rect x=\"%.1f\" y=\"%.2f\" width=\"3\" height=\"%.2f\" fill=\"#000\"/>\n",
                            X(stay.to) - 3, y, height);
  }

  const Workload& workload_;
  const std::vector<Panel>& panels_;
  const std::vector<std::string>& coloured_;
  Seconds ends_ = 1;
  double top_ = 0;
  std::string out_;
};

}  // namespace

std::string Picture(const Workload& workload, const std::vector<Panel>& panels,
                    const std::vector<std::string>& coloured) {
  return Drawing(workload, panels, coloured).Draw();
}

}  // namespace gangway::beside
