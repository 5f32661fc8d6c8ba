// File descriptors that go over a Unix socket beside bytes (unix(7), SCM_RIGHTS).
#pragma once

#include <sys/types.h>

#include <cstddef>

#include "absl/strings/string_view.h"

namespace gangway::sandbox {

// As send(2), with MSG_NOSIGNAL. `file` -1: bytes alone; otherwise it stays the caller's, and the other side has one of
// its own. At least one byte.
ssize_t SendWithFile(int socket, absl::string_view bytes, int file);
// As recv(2). `file`: one that came with the bytes, which is the caller's, to be closed at an exec; else -1.
ssize_t ReceiveWithFile(int socket, char* into, std::size_t size, int flags, int& file);

}  // namespace gangway::sandbox
