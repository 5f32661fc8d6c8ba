// A history as a person reads it.
#pragma once

#include "sandbox/apiserver/journal.h"

namespace gangway::testutil {

// A line a commit to stdout; events are left out.
void PrintRecord(const sandbox::JournalRecord& record);

}  // namespace gangway::testutil
