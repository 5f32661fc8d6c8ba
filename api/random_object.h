// Random objects of any type that has a field table, and whether two are the same; for property tests.
#pragma once

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "api/field_table.h"

namespace gangway::api {

// Fills `out`, a fresh value of `type`, so that it survives encoding and decoding: valid UTF-8, times of four-digit
// years, quantities in range, documents that are compact JSON. Rules (minimum, enum) are not kept. `random` gives 64
// random bits; the same bits give the same object.
void FillRandom(const Type& type, absl::FunctionRef<std::uint64_t()> random, void* out);

// Member by member; quantities by value, documents by their bytes.
bool SameValue(const Type& type, const void* a, const void* b);

template <class T>
T RandomObject(absl::FunctionRef<std::uint64_t()> random) {
  T out;
  FillRandom(TypeOf<T>(), random, &out);
  return out;
}
template <class T>
bool SameObject(const T& a, const T& b) {
  return SameValue(TypeOf<T>(), &a, &b);
}

}  // namespace gangway::api
