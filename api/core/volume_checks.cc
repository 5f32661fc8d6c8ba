#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "api/core/pod_checks.h"
#include "api/name.h"

namespace gangway::api::core {
namespace {

void CheckSource(const Place& volume, absl::string_view kind, const Place& source) {
  if (!source.IsObject()) return;
  if (kind == "hostPath") {
    const absl::string_view path = source["path"].RequiredText();
    for (const absl::string_view part : absl::StrSplit(path, '/')) {
      if (part == "..") source["path"].Invalid("must not contain '..'");
    }
    source["type"].OneOf(
        {"DirectoryOrCreate", "Directory", "FileOrCreate", "File", "Socket", "CharDevice", "BlockDevice"});
  } else if (kind == "configMap") {
    source["name"].RequiredText();
  } else if (kind == "secret") {
    source["secretName"].RequiredText();
  } else if (kind == "persistentVolumeClaim") {
    source["claimName"].RequiredText();
  } else if (kind == "nfs") {
    source["server"].RequiredText();
    if (const absl::string_view path = source["path"].RequiredText(); !path.empty() && path[0] != '/') {
      source["path"].Invalid("must be an absolute path");
    }
  } else if (kind == "emptyDir") {
    const Place limit = source["sizeLimit"];
    if (const std::optional<Quantity> amount = limit.Amount(); amount.has_value() && amount->negative()) {
      limit.Invalid("must not be negative");
    }
  } else if (kind == "csi") {
    source["driver"].RequiredText();
  } else if (kind == "ephemeral" && !volume["ephemeral"]["volumeClaimTemplate"].present()) {
    source["volumeClaimTemplate"].Required();
  }
}

}  // namespace

Names CheckVolumes(const Place& volumes) {
  Names names;
  volumes.ForEachItem([&](const Place& volume, std::size_t) {
    if (!volume.present()) return volume.Required();
    if (!volume.IsObject()) return;
    const Place name = volume["name"];
    if (const absl::string_view text = name.RequiredText("every volume needs a name"); !text.empty()) {
      name.Complain(CheckDns1123Label(text));
      if (!names.emplace(text).second) name.Duplicate();
    }
    std::vector<std::string> kinds;
    volume.ForEachMember([&](const Place& source, absl::string_view kind) {
      if (kind == "name" || !source.present()) return;
      kinds.emplace_back(kind);
      CheckSource(volume, kind, source);
    });
    // Of no kind it is an emptyDir: Kubernetes' default.
    if (kinds.size() > 1) {
      volume.Forbidden(absl::StrCat("may not specify more than one volume type, but has ", absl::StrJoin(kinds, ", ")));
    }
  });
  return names;
}

}  // namespace gangway::api::core
