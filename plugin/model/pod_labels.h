// Labels of pods: each namespace and each label is kept once, however many pods have it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "plugin/model/labels.h"
#include "plugin/model/slot_table.h"

namespace gangway::model {

class PodLabels {
 public:
  PodLabels() = default;
  PodLabels(const PodLabels&) = delete;
  PodLabels& operator=(const PodLabels&) = delete;

  // Of one pod. There is one, or none.
  class Kept {
   public:
    bool there() const { return numbers_ != nullptr; }

   private:
    friend class PodLabels;
    std::unique_ptr<std::int32_t[]> numbers_;  // its namespace's, its labels'; of the last the complement
  };

  Kept Keep(absl::string_view ns, const LabelList& labels);
  void Drop(Kept& kept);

  // The namespace, NUL, and the labels as labels.h packs them.
  std::string Pack(const Kept& kept) const;

  // `all`: what is kept of all pods.
  void Audit(absl::Span<const Kept* const> all, std::vector<std::string>& wrong) const;

 private:
  struct Part {
    std::string text;
    int users = 0;
  };
  std::int32_t Enter(absl::string_view text);
  template <class F>  // void(std::int32_t number): of the namespace, then of each label
  static void ForEach(const std::int32_t* numbers, F visit) {
    for (; *numbers >= 0; ++numbers) visit(*numbers);
    visit(~*numbers);
  }
  const std::string& TextOf(std::int32_t number) const { return parts_[number].text; }

  // Found by the texts that they have.
  struct HashPart {
    using is_transparent = void;
    const SlotTable<Part>* parts = nullptr;
    std::size_t operator()(absl::string_view text) const { return absl::HashOf(text); }
    std::size_t operator()(std::int32_t number) const { return absl::HashOf(absl::string_view((*parts)[number].text)); }
  };
  struct SamePart {
    using is_transparent = void;
    const SlotTable<Part>* parts = nullptr;
    bool operator()(std::int32_t a, std::int32_t b) const { return a == b; }
    bool operator()(std::int32_t a, absl::string_view b) const { return (*parts)[a].text == b; }
  };

  SlotTable<Part> parts_;
  absl::flat_hash_set<std::int32_t, HashPart, SamePart> by_text_{0, HashPart{&parts_}, SamePart{&parts_}};
};

}  // namespace gangway::model
