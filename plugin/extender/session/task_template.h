// Tasks that are like one that was read before: of one job and template, they differ in their names and in little else.
//
// A template is the text of a task with gaps, which are strings: its name, its UID, its node, when it was made, and
// what no fact is made from. A text that is the same between the gaps says the same but for what stands in them, so
// that it is compared and not decoded. Whatever is not plain is none of a template's: the task is decoded as any other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "plugin/model/facts.h"

namespace gangway::extender {

class TaskTemplate {
 public:
  // `text`: a TaskInfo from which DecodeTask has made `facts`; it outlives the template. nullopt: others like it cannot
  // be told by their gaps alone.
  static std::optional<TaskTemplate> Of(absl::string_view text, const model::PodFacts& facts);

  // How long the TaskInfo is with which `ahead` begins; 0: it is none like this. facts() are then that task's.
  std::size_t Match(absl::string_view ahead);
  const model::PodFacts& facts() const { return facts_; }

 private:
  enum class Kind : std::uint8_t { kNothing, kTime, kUid, kName, kNode, kCreated, kIndexLabel };
  struct Gap {
    Kind kind = Kind::kNothing;
    std::size_t begin = 0, end = 0;  // of what stands between the quotes
  };
  class Finder;

  TaskTemplate(absl::string_view text, const model::PodFacts& facts) : text_(text), facts_(facts) {}
  bool Fill();

  absl::string_view text_;
  model::PodFacts facts_;
  std::vector<Gap> gaps_;                 // ascending
  std::vector<absl::string_view> found_;  // what stands in each, of the text that is looked at
  absl::string_view created_;             // of facts_
  std::size_t index_label_ = 0;           // among the labels
};

// The last few of one job. Used while the body they are from is there.
class TaskTemplates {
 public:
  // As TaskTemplate::Match; the facts are good until the next call. nullptr: none is like it.
  const model::PodFacts* Match(absl::string_view ahead, std::size_t& length);
  void Add(absl::string_view text, const model::PodFacts& facts);
  void Clear() { templates_.clear(); }

 private:
  std::vector<TaskTemplate> templates_;
  std::size_t last_ = 0;  // that matched, or was added
};

}  // namespace gangway::extender
