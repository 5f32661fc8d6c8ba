// Whether the files of a server's identity can be used: gRPC itself would start, log, and refuse every handshake.
#pragma once

#include "absl/status/status.h"
#include "plugin/extender/server.h"

namespace gangway::extender {

// OK without any. Errors name the file and what is wrong with it.
absl::Status CheckTlsFiles(const TlsFiles& files);

}  // namespace gangway::extender
