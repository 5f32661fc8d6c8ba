// The PaddleJob that `gangway run` makes of a few words. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "api/paddle/paddle_job.h"

namespace gangway::cmd {

// What one asks for, as the flags say it.
struct Wish {
  std::string name, ns, image, queue, priority_class;  // "": none, but of name and image
  std::int64_t workers = 1, servers = 0;
  std::int64_t gpus = 0;  // of each worker
  std::string gpu_resource = "nvidia.com/gpu";
  std::string cpu, memory;               // of each pod; "": none
  std::string shared_memory;             // size of /dev/shm of each pod; "": the runtime's own, mostly 64Mi
  std::vector<std::string> env, claims;  // NAME=VALUE; NAME:/PATH
  std::vector<std::string> command;      // of every pod
};

// "train-x7k2p" of "python -u train.py --lr 0.1" and "x7k2p": the first word that is a script, else the first word.
std::string NameOfCommand(const std::vector<std::string>& command, absl::string_view suffix);

// InvalidArgument names the flag that cannot be used. Whether the names fit is the translator's to say.
absl::StatusOr<api::paddle::PaddleJob> JobOf(const Wish& wish);

}  // namespace gangway::cmd
