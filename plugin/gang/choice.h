// Rows for pods of a shape one by one, where each that is placed may change what rows take beside its own.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "plugin/gang/constraint/asks.h"
#include "plugin/gang/fit.h"

namespace gangway::gang {

// Good while pods of this shape alone are placed; nothing is taken back meanwhile.
class Choice {
 public:
  // Of these rows, best first; of all that fit.
  Choice(const constraint::Asks& asks, const std::vector<Rank>& ranks);
  Choice(const constraint::Asks& asks, const ShapeFit& fit) : asks_(asks), more_(fit.ranks()) {}

  // The best row for one pod more, as things are placed now, of those that `may` says yes to; kNone: there is none.
  model::Row Next(absl::FunctionRef<bool(model::Row)> may = [](model::Row) { return true; });

 private:
  struct Candidate {
    model::Row row = model::kNone;  // kNone: it takes no more
    constraint::Scores scores{};
  };
  bool Has(std::size_t candidate);

  const constraint::Asks& asks_;
  std::optional<ShapeFit::Cursor> more_;
  std::vector<Candidate> candidates_;  // best first, by what only their own rows change
  std::size_t from_ = 0;               // those before take no more
};

}  // namespace gangway::gang
