// The credentials of an object store, as AWS' own tools take them.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kube/client/connection.h"

namespace gangway::cmd {

// Text of a file such as ~/.aws/credentials: aws_access_key_id, aws_secret_access_key and aws_session_token below
// [profile]. InvalidArgument says which line or key, never what stands there.
absl::StatusOr<kube::AwsSigning> ParseAwsCredentials(absl::string_view text, absl::string_view profile);

// From `file` (profile "default"), or, where that is "", from AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and
// AWS_SESSION_TOKEN. `region` "": AWS_REGION, AWS_DEFAULT_REGION, us-east-1. InvalidArgument says what is missing.
absl::StatusOr<kube::AwsSigning> FindAwsSigning(
    const std::string& file, const std::string& region,
    const std::function<std::optional<std::string>(const std::string&)>& environment);

}  // namespace gangway::cmd
