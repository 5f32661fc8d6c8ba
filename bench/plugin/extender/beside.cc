// The same workload by a scheduler that does as Volcano's, without us and with each mode, in virtual time: prints the
// tables of docs/extender.md, of five days together.
#include <iostream>

#include "tests/plugin/extender/beside/beside.h"

int main() {
  const gangway::beside::Documented documented = gangway::beside::RunDocumented();
  std::cout << documented.Table() << "\n" << documented.UrgentTable();
}
