// What the sandbox and its container host (host/host_loop.h) tell each other over a socket: frames of a length, a
// kind and a payload. Orders go to the host, news come back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "api/field_table.h"

namespace gangway::sandbox {

// What the host is told when it is started, on its command line.
struct HostSetup {
  std::string folder;           // of this sandbox, removed at the end
  bool shared_network = false;  // pods use the machine's network
  std::string cgroup;           // name of ours below the machine's cgroups
  // Where pods are to find the API server in their own network: the host listens there, and gives the socket away with
  // its first news. 0: nowhere.
  std::string api_server_ip;
  std::int32_t api_server_port = 0;
  static constexpr std::string_view kName = "HostSetup";
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&HostSetup::folder>("folder", ""),
                           api::MakeField<&HostSetup::shared_network>("sharedNetwork", ""),
                           api::MakeField<&HostSetup::cgroup>("cgroup", ""),
                           api::MakeField<&HostSetup::api_server_ip>("apiServerIP", ""),
                           api::MakeField<&HostSetup::api_server_port>("apiServerPort", ""));
  }
};

struct MemoryFolder {
  std::string path;
  std::int64_t bytes = 0;             // 0: as much as the machine lets it
  std::optional<std::int64_t> gid{};  // to whom it belongs, and what is made in it
  static constexpr std::string_view kName = "MemoryFolder";
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&MemoryFolder::path>("path", ""),
                           api::MakeField<&MemoryFolder::bytes>("bytes", ""),
                           api::MakeField<&MemoryFolder::gid>("gid", ""));
  }
};

// Makes what the containers of a pod share: network, host name, memory.
struct PodOrder {
  std::string uid, hostname, ip;
  bool host_network = false;
  std::vector<MemoryFolder> memory_folders;
  static constexpr std::string_view kName = "PodOrder";
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&PodOrder::uid>("uid", ""),
                           api::MakeField<&PodOrder::hostname>("hostname", ""), api::MakeField<&PodOrder::ip>("ip", ""),
                           api::MakeField<&PodOrder::host_network>("hostNetwork", ""),
                           api::MakeField<&PodOrder::memory_folders>("memoryFolders", ""));
  }
};

struct Mount {
  std::string source, target;  // a folder or a file of the machine; where the container sees it
  bool read_only = false;
  std::string sub_path{};      // what of the source is mounted: no link in it leads out of there; "": all
  bool make_sub_path = false;  // where there is none
  static constexpr std::string_view kName = "Mount";
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&Mount::source>("source", ""), api::MakeField<&Mount::target>("target", ""),
                           api::MakeField<&Mount::read_only>("readOnly", ""),
                           api::MakeField<&Mount::sub_path>("subPath", ""),
                           api::MakeField<&Mount::make_sub_path>("makeSubPath", ""));
  }
};

// As whom a container runs.
struct UserOrder {
  std::int64_t uid = 0;
  std::optional<std::int64_t> gid;   // none: as /etc/passwd has it there, else 0
  std::vector<std::int64_t> groups;  // beside those of /etc/group there
  bool no_new_privileges = false;
  static constexpr std::string_view kName = "UserOrder";
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&UserOrder::uid>("uid", ""), api::MakeField<&UserOrder::gid>("gid", ""),
                           api::MakeField<&UserOrder::groups>("groups", ""),
                           api::MakeField<&UserOrder::no_new_privileges>("noNewPrivileges", ""));
  }
};

// Starts one run of a container.
struct StartOrder {
  std::string id;       // names the run in what follows
  std::string pod_uid;  // of a PodOrder
  std::string root;     // the folder that it sees as /; "/": the machine's
  std::string scratch;  // an empty folder: what it writes outside of its mounts
  std::string working_dir;
  std::vector<std::string> argv, env;  // "NAME=value"; a name without a slash is looked up in its PATH
  std::vector<Mount> mounts;
  std::int64_t memory_bytes = 0, milli_cpu = 0;  // limits; 0: none
  std::optional<UserOrder> user;                 // none: whoever runs the host
  static constexpr std::string_view kName = "StartOrder";
  static constexpr auto Fields() {
    return api::MakeFields(
        api::MakeField<&StartOrder::id>("id", ""), api::MakeField<&StartOrder::pod_uid>("podUid", ""),
        api::MakeField<&StartOrder::root>("root", ""), api::MakeField<&StartOrder::scratch>("scratch", ""),
        api::MakeField<&StartOrder::working_dir>("workingDir", ""), api::MakeField<&StartOrder::argv>("argv", ""),
        api::MakeField<&StartOrder::env>("env", ""), api::MakeField<&StartOrder::mounts>("mounts", ""),
        api::MakeField<&StartOrder::memory_bytes>("memoryBytes", ""),
        api::MakeField<&StartOrder::milli_cpu>("milliCpu", ""), api::MakeField<&StartOrder::user>("user", ""));
  }
};

// To the first process of a run; kills all of the run when it is SIGKILL.
struct SignalOrder {
  std::string id;
  std::int32_t signal = 0;
  static constexpr std::string_view kName = "SignalOrder";
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&SignalOrder::id>("id", ""),
                           api::MakeField<&SignalOrder::signal>("signal", ""));
  }
};

// Begins a stream: a command in a run, or a connection to a port of a pod.
struct StreamOrder {
  std::string id;                 // names the stream in what follows
  std::string run;                // where the command runs; "": it is a connection
  std::vector<std::string> argv;  // with the run's environment and working folder
  bool input = false, terminal = false;
  std::string pod_uid, ip;  // whose network the connection is made in, and to which address
  std::int32_t port = 0;
  bool connect_only = false;  // it ends once there is a connection
  static constexpr std::string_view kName = "StreamOrder";
  static constexpr auto Fields() {
    return api::MakeFields(
        api::MakeField<&StreamOrder::id>("id", ""), api::MakeField<&StreamOrder::run>("run", ""),
        api::MakeField<&StreamOrder::argv>("argv", ""), api::MakeField<&StreamOrder::input>("input", ""),
        api::MakeField<&StreamOrder::terminal>("terminal", ""), api::MakeField<&StreamOrder::pod_uid>("podUid", ""),
        api::MakeField<&StreamOrder::ip>("ip", ""), api::MakeField<&StreamOrder::port>("port", ""),
        api::MakeField<&StreamOrder::connect_only>("connectOnly", ""));
  }
};

// What else there is to say of a stream; to the host, but for `took`, which also comes back.
struct StreamWord {
  std::string id;
  std::int64_t took = 0;  // bytes of what the other sent have been passed on
  bool no_more_input = false, leave = false;
  std::int32_t columns = 0, rows = 0;  // of its terminal
  static constexpr std::string_view kName = "StreamWord";
  static constexpr auto Fields() {
    return api::MakeFields(
        api::MakeField<&StreamWord::id>("id", ""), api::MakeField<&StreamWord::took>("took", ""),
        api::MakeField<&StreamWord::no_more_input>("noMoreInput", ""), api::MakeField<&StreamWord::leave>("leave", ""),
        api::MakeField<&StreamWord::columns>("columns", ""), api::MakeField<&StreamWord::rows>("rows", ""));
  }
};
// The host stops reading what a stream says when so much of it has not been taken.
inline constexpr std::size_t kStreamWindow = 256u << 10;

// What happened to a pod (PodReady) or a run (Started, Ended); or whether the host itself could start (Ready).
struct News {
  std::string id;     // a pod's UID, a run's id
  std::string error;  // "": it went well
  std::int32_t exit_code = 0;
  bool out_of_memory = false;
  std::vector<std::string> notes;  // Ready: what this machine does not allow
  static constexpr std::string_view kName = "News";
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&News::id>("id", ""), api::MakeField<&News::error>("error", ""),
                           api::MakeField<&News::exit_code>("exitCode", ""),
                           api::MakeField<&News::out_of_memory>("outOfMemory", ""),
                           api::MakeField<&News::notes>("notes", ""));
  }
};

enum class FrameKind : char {
  kPod = 'p',     // PodOrder
  kStart = 's',   // StartOrder
  kSignal = 'k',  // SignalOrder
  kDrop = 'd',    // a pod's UID: all of it ends and goes
  kRemove = 'r',  // a folder of the sandbox
  kStream = 't',  // StreamOrder
  kInput = 'i',   // OutputPayload: for a stream
  kWord = 'w',    // StreamWord; also news
  kReady = 'R',   // News
  kPodReady = 'P',
  kStarted = 'S',
  kEnded = 'E',
  kOutput = 'O',             // OutputPayload
  kStreamOutput = 'T',       // OutputPayload: of a stream
  kStreamErrorOutput = 'U',  // the same, of a command's second output
  kStreamEnded = 'F',        // News
};

// A payload beyond this is refused; who makes one sees to it that it is not.
inline constexpr std::size_t kMaxFrame = 16u << 20;

std::string EncodeFrame(FrameKind kind, absl::string_view payload);
struct FrameView {
  FrameKind kind;
  absl::string_view payload;
  std::size_t size;  // of the whole frame
};
// The frame at the beginning of `bytes`; none: it is not complete. InvalidArgument: this is no frame.
absl::StatusOr<std::optional<FrameView>> DecodeFrame(absl::string_view bytes);

// What a run or a stream wrote, or is to read.
std::string OutputPayload(absl::string_view id, absl::string_view bytes);
struct OutputView {
  absl::string_view id, bytes;
};
absl::StatusOr<OutputView> DecodeOutput(absl::string_view payload);

}  // namespace gangway::sandbox
