// Who makes volumes of the class "slow": within seconds, where the node that was selected is; now and then it gives the
// node back first, or answers when the scheduler waits no more.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "base/loop.h"
#include "base/random.h"
#include "sandbox/apiserver/journal.h"
#include "sandbox/kubelet/node_shape.h"
#include "tests/simulation/life.h"

namespace gangway::testutil {

inline constexpr char kSlowClass[] = "slow", kSlowProvisioner[] = "example.com/slow";

// Used on its loop.
class Provisioner {
 public:
  using Send = std::function<void(const UserRequest&)>;
  // `nodes`: where they are is their label "zone".
  Provisioner(Loop& loop, const std::vector<sandbox::SimulatedNode>& nodes, std::uint64_t seed, Send send);
  void OnRecord(const sandbox::JournalRecord& record);
  absl::Time answers_until() const { return answers_until_; }  // as far as it was asked

 private:
  struct Claim {
    std::string name, uid, node;  // that is selected; "" none
    int given_back = 0;
    bool made = false;
  };
  void Answer(Claim& claim);
  void Make(const std::string& name);
  void GiveBack(const std::string& name);
  absl::Duration Upto(absl::Duration most);

  Loop& loop_;
  std::map<std::string, std::string> zones_;  // by node
  RandomStream random_;
  const Send send_;
  std::map<std::string, Claim> claims_;  // by name
  absl::Time answers_until_ = absl::InfinitePast();
  Owner owner_;
};

}  // namespace gangway::testutil
