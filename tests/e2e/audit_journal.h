// The audit log of a real API server as the journal that the checkers read: one record for each write that changed
// something, in the order of its resourceVersion.
//
// The log is of level RequestResponse without managed fields (audit-policy.yaml). It tells most objects after a write;
// a binding, an eviction and a deletion that is over at once are answered with a Status, so what they did is worked out
// from the object before.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sandbox/apiserver/journal.h"

namespace gangway::testutil {

// `log` is one JSON event a line. Refused and dry-run writes, and resources we do not know, leave no record. `client`
// is the product of the User-Agent ("gangway-scheduler"). InvalidArgument names the line.
absl::StatusOr<std::vector<sandbox::JournalRecord>> ReadAuditLog(absl::string_view log);

}  // namespace gangway::testutil
