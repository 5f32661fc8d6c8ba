// Objects and their encodings.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "api/field_table.h"
#include "api/random_object.h"
#include "tests/fuzz/fuzz_target.h"

namespace gangway::testutil {

// Decoded once, an object is what its own encoding decodes to. Of another type's JSON there is nothing to say.
template <class T>
void RequireRoundTrip(absl::string_view json) {
  const absl::StatusOr<T> object = api::Decode<T>(json);
  if (!object.ok()) return;
  const std::string encoded = api::Encode(*object);
  const absl::StatusOr<T> again = api::Decode<T>(encoded);
  Require(again.ok() && api::SameObject(*object, *again), "decode(encode(x)) is x", encoded);
  Require(api::Encode(*again) == encoded, "encode(decode(encode(x))) is encode(x)", encoded);
}

}  // namespace gangway::testutil
