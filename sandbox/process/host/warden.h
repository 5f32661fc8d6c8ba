// `gangway container-host SOCKET SETUP`, which the sandbox starts for itself: no command for users.
//
// Two processes. The warden stays outside: it waits for the end of the other, then removes the sandbox's folder and
// control groups. The other is process 1 of a process namespace and runs the containers (host_loop.h); it ends when the
// sandbox does, because the socket does, and the kernel ends every container with it. So nothing is left behind however
// the sandbox ends. Who is not root gets a user namespace first.
#pragma once

namespace gangway::sandbox {

inline constexpr char kContainerHostCommand[] = "container-host";

int RunContainerHost(int argc, char** argv);

}  // namespace gangway::sandbox
