// The messages of proto/kubernetes, known by description only.
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <memory>
#include <string>

#include "absl/strings/string_view.h"

namespace gangway::sandbox {

// Thread-safe.
const google::protobuf::Descriptor& EnvelopeType();
// nullptr when the kind is not known.
const google::protobuf::Descriptor* FindObjectType(absl::string_view api_version, absl::string_view kind);
std::unique_ptr<google::protobuf::Message> NewMessage(const google::protobuf::Descriptor& type);

}  // namespace gangway::sandbox
