// Memory that only the start of a process needed: code and constants of the program and of its libraries, what the
// loader read of their symbols, and heap that was freed since.
#pragma once

namespace gangway::cmd {

// Gives it back to the system. What is needed after all comes again from its file, as it did the first time. For once,
// when the start is over; takes milliseconds. Any thread, whatever the others do.
void GiveBackStartMemory();

}  // namespace gangway::cmd
