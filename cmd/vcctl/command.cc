#include "cmd/vcctl/command.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "api/resource.h"

namespace gangway::cmd {
namespace {

api::volcano::Command CommandObject(const api::Resource& resource, const api::ObjectMeta& target, absl::string_view ns,
                                    absl::string_view action) {
  api::OwnerReference owner;
  owner.api_version = resource.ApiVersion();
  owner.kind = std::string(resource.kind);
  owner.name = target.name;
  owner.uid = target.uid;
  owner.controller = true;
  owner.block_owner_deletion = true;

  api::volcano::Command command;
  command.api_version = api::kCommands.ApiVersion();
  command.kind = std::string(api::kCommands.kind);
  command.metadata.generate_name = absl::StrCat(target.name, "-", absl::AsciiStrToLower(action), "-");
  command.metadata.ns = std::string(ns);
  command.metadata.owner_references = {owner};
  command.action = std::string(action);
  command.target = owner;
  return command;
}

}  // namespace

api::volcano::Command JobCommandObject(const api::volcano::Job& job, absl::string_view action) {
  return CommandObject(api::kJobs, job.metadata, job.metadata.ns, action);
}

api::volcano::Command QueueCommandObject(const api::volcano::Queue& queue, absl::string_view action) {
  return CommandObject(api::kQueues, queue.metadata, "default", action);
}

}  // namespace gangway::cmd
