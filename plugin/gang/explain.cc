#include "plugin/gang/explain.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "plugin/gang/fit.h"

namespace gangway::gang {
namespace {

using model::Cluster;
using model::Dim;
using model::Obstacle;
using model::RoleReason;
using model::Row;
using model::Shape;

std::string RequestText(const Cluster& cluster, const Shape& shape) {
  std::string text;
  for (Dim dim = 0; dim < shape.request.size(); ++dim) {
    if (shape.request[dim] == 0 || dim == model::kPods) continue;
    const absl::string_view name = cluster.dims().Name(dim);
    absl::StrAppend(&text, text.empty() ? "" : ", ", name, " ", model::AmountText(name, shape.request[dim]));
  }
  return text;
}

// With all copies taken, the first resource that a further one lacks.
Dim LackAfter(const Overlay& overlay, Row row, const Shape& shape, int copies) {
  for (Dim dim = 0; dim < shape.request.size(); ++dim) {
    const std::int64_t wanted = shape.request[dim];
    if (wanted != 0 && overlay.free(row, dim) - wanted * copies < wanted) return dim;
  }
  return model::kPods;
}

std::string MostOften(const std::map<std::string, int>& counts) {
  std::string text;
  int most = 0;
  for (const auto& [each, count] : counts) {
    if (count > most) text = each;
    most = std::max(most, count);
  }
  return text;
}

class Tally {
 public:
  Tally(const Overlay& overlay, const Shape& shape) : overlay_(overlay), shape_(shape) {}

  void Count(Row row, const RowFit& fit, bool fill) {
    if (fit.obstacle == Obstacle::kAbsent) return;
    ++reason_.nodes;
    switch (fit.obstacle) {
      case Obstacle::kAbsent:
        break;
      case Obstacle::kCordoned:
        ++reason_.cordoned;
        break;
      case Obstacle::kSelector:
        ++reason_.selector;
        break;
      case Obstacle::kVolume:
        ++reason_.volumes;
        ++volumes_[overlay_.cluster().VolumeText(row, shape_)];
        break;
      case Obstacle::kKeptAway:
        ++reason_.kept_away;
        break;
      case Obstacle::kTaint:
        ++reason_.tainted;
        ++taints_[overlay_.cluster().TaintText(row, shape_)];
        break;
      case Obstacle::kPorts:
        ++reason_.ports;
        break;
      case Obstacle::kResource:
        AddLack(fit.lack, overlay_.free(row, fit.lack));
        break;
      case Obstacle::kNothing:
        CountFitting(row, fit, fill);
        break;
    }
  }

  RoleReason Finish() {
    const Cluster& cluster = overlay_.cluster();
    for (const auto& [dim, lack] : lacks_) reason_.lacks.push_back(lack);
    reason_.selector_text = model::SelectorText(shape_, cluster.names());
    reason_.taint_text = MostOften(taints_);
    reason_.volume_text = MostOften(volumes_);
    if (reason_.kept_away > 0) reason_.keeper_text = cluster.KeeperText(shape_);
    reason_.request_text = RequestText(cluster, shape_);
    return std::move(reason_);
  }

 private:
  void CountFitting(Row row, const RowFit& fit, bool fill) {
    if (!fill) {
      ++reason_.fit;
    } else if (!shape_.ports.empty()) {
      ++reason_.ports;
    } else {
      const Dim dim = LackAfter(overlay_, row, shape_, fit.copies);
      AddLack(dim, overlay_.free(row, dim) - shape_.request[dim] * fit.copies);
    }
  }

  void AddLack(Dim dim, std::int64_t free) {
    model::Lack& lack = lacks_[dim];
    lack.dim = std::string(overlay_.cluster().dims().Name(dim));
    lack.needed = shape_.request[dim];
    lack.best_free = lack.nodes == 0 ? std::max<std::int64_t>(free, 0) : std::max(lack.best_free, free);
    ++lack.nodes;
  }

  const Overlay& overlay_;
  const Shape& shape_;
  RoleReason reason_;
  std::map<Dim, model::Lack> lacks_;
  std::map<std::string, int> taints_, volumes_;
};

RoleReason Explain(const Overlay& overlay, model::ShapeId id, bool fill) {
  const Shape& shape = overlay.cluster().shape(id);
  Tally tally(overlay, shape);
  for (Row row = 0; row < overlay.cluster().rows(); ++row) tally.Count(row, FitOf(overlay, row, shape), fill);
  return tally.Finish();
}

}  // namespace

RoleReason ExplainShape(const Overlay& overlay, model::ShapeId shape) { return Explain(overlay, shape, false); }
RoleReason ExplainFull(const Overlay& overlay, model::ShapeId shape) { return Explain(overlay, shape, true); }

}  // namespace gangway::gang
