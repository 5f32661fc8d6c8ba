// What the real API server answered to every step of every case, whole: tests/golden/conformance/FILE.json for the
// cases of FILE.yaml. Only real_conformance_test writes it, with GW_UPDATE_GOLDEN=1, and then fails.
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "boost/json.hpp"
#include "tests/conformance/case.h"

namespace gangway::testutil {

// A part of the answers that is not compared with the sandbox's, and why.
struct LeftOut {
  std::string at;  // "body/spec/*/name": members and indices; `*` is any of them, `**` in front any number. What is
                   // below is left out too
  std::vector<std::string> cases;  // none: all
  std::string because;
  bool unsteady = false;  // the real API server does not answer the same twice
  std::string where;      // "left_out.yaml:12:3"
};

// "" when the two are equal but for what is left out; else the differences, a line each: path, what was recorded, what
// came. `used` gets the places of the rules that something was left out for.
std::string Compare(const boost::json::array& recorded, const boost::json::array& seen, const std::string& name,
                    const std::vector<LeftOut>& left_out, std::set<std::string>& used);

// left_out.yaml beside the cases. InvalidArgument names the line of a rule without reason.
absl::StatusOr<std::vector<LeftOut>> LoadLeftOut(const std::string& file);

// Thread-safe.
class Recordings {
 public:
  explicit Recordings(std::string folder) : folder_(std::move(folder)) {}
  // Null when there is none of the case.
  const boost::json::array* Find(const Case& c);
  // Kept until Write.
  void Keep(const Case& c, boost::json::array seen);
  // What was kept replaces what stood for the same cases; cases that are no more go.
  void Write(const std::vector<Case>& all);

 private:
  using File = std::map<std::string, boost::json::array>;  // by name of the case
  File& Load(const std::string& file);
  std::string PathOf(const std::string& file) const { return folder_ + "/" + file + ".json"; }

  const std::string folder_;
  std::mutex mu_;
  std::map<std::string, File> files_;  // guarded by mu_
  std::set<std::string> changed_;
};

}  // namespace gangway::testutil
