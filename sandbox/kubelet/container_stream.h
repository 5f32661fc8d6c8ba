// What goes on between a user and a container while it runs: a command within it, or a connection to a port of its pod.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace gangway::sandbox {

// A command to run in a container that runs.
struct ExecOrder {
  std::string container;
  std::vector<std::string> command;
  bool input = false;     // otherwise it reads nothing
  bool terminal = false;  // then all of its output is one
};

struct StreamEnd {
  std::string error;  // why it could not begin; "": it ended by itself
  int exit_code = 0;  // of a command
};

// Called on the loop, not from within a call to the stream.
struct StreamEvents {
  std::function<void(bool error_output, absl::string_view bytes)> on_output;
  std::function<void()> on_room;                 // unwritten() has become little
  std::function<void(const StreamEnd&)> on_end;  // after all of its output
};

// Used on the loop. Its end: the command is killed, the connection closed, and nothing is called any more.
class ContainerStream {
 public:
  virtual ~ContainerStream() = default;
  virtual void Write(absl::string_view bytes) = 0;
  // Bytes that the other side has not taken yet. Whoever writes keeps them few.
  virtual std::size_t unwritten() const = 0;
  virtual void CloseInput() = 0;  // once; nothing is written after it
  // Of a terminal.
  virtual void Resize(int columns, int rows) = 0;
  // So much of the output has been passed on. A container that has got too far ahead waits for that.
  virtual void Took(std::size_t bytes) = 0;
};

}  // namespace gangway::sandbox
