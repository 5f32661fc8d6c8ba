// Header fields of HTTP/2 as a peer has packed them (RFC 7541). Pure.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace gangway::sandbox {

struct HeaderField {
  std::string name, value;
  friend bool operator==(const HeaderField&, const HeaderField&) = default;
};

// Of one connection: what it has read says what later blocks mean.
class HeaderDecoder {
 public:
  // `max_table`: what the peer was told of SETTINGS_HEADER_TABLE_SIZE, by default the protocol's.
  explicit HeaderDecoder(std::size_t max_table = 4096) : max_table_(max_table), table_size_(max_table) {}

  // A whole block. InvalidArgument: it is none, or its fields are more than kMaxFields bytes.
  absl::StatusOr<std::vector<HeaderField>> Decode(absl::string_view block);

  // With the 32 bytes that each field counts for (RFC 7541, 4.1).
  static constexpr std::size_t kMaxFields = 64u << 10;

 private:
  absl::StatusOr<HeaderField> At(std::size_t index) const;
  void Add(const HeaderField& field);
  void Shrink(std::size_t size);

  const std::size_t max_table_;
  std::size_t table_size_, held_ = 0;
  std::deque<HeaderField> table_;  // the newest first
};

}  // namespace gangway::sandbox
