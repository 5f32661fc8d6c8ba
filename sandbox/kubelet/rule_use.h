// Which rules of --finish, --fail and --log (behaviour.h) fit a pod. One that fits none is most likely misspelt.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/meta.h"

namespace gangway::sandbox {

class RuleUse {
 public:
  // Rules that Behaviour::Parse takes, of the flag `flag` ("--finish").
  void Add(absl::string_view flag, const std::vector<std::string>& rules);
  void See(const api::ObjectMeta& pod);

  // Of each rule that has fitted none of the pods seen a sentence with the nearest name that would; none before a pod
  // was seen.
  std::vector<std::string> Unused() const;

 private:
  struct Rule {
    std::string flag, text;
    absl::string_view name() const { return absl::string_view(text).substr(0, text.find('=')); }
    bool used = false;
  };
  std::vector<Rule> rules_;
  std::set<std::string> tasks_, pods_;  // names that fit
};

}  // namespace gangway::sandbox
