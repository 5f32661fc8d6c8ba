#include "plugin/extender/calls/message_budget.h"

#include <string>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include "absl/strings/str_cat.h"

namespace gangway::extender {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::internal::WireFormatLite;

constexpr int kMaxDepth = 20;  // ours nest six deep

class Walk {
 public:
  Walk(absl::string_view bytes, std::int64_t budget)
      : input_(reinterpret_cast<const std::uint8_t*>(bytes.data()), static_cast<int>(bytes.size())), budget_(budget) {}

  absl::Status Run(const Descriptor& type, const std::string& path, int depth) {
    while (const std::uint32_t tag = input_.ReadTag()) {
      const FieldDescriptor* field = type.FindFieldByNumber(WireFormatLite::GetTagFieldNumber(tag));
      if (field == nullptr || field->is_repeated() || field->message_type() != nullptr) {
        if (--budget_ < 0) {
          return absl::ResourceExhaustedError(
              absl::StrCat(Name(field, path), ": the message has more entries than the limit of a call"));
        }
      }
      const bool nested = field != nullptr && field->message_type() != nullptr &&
                          WireFormatLite::GetTagWireType(tag) == WireFormatLite::WIRETYPE_LENGTH_DELIMITED;
      if (!nested) {
        if (!WireFormatLite::SkipField(&input_, tag)) return Broken(Name(field, path));
        continue;
      }
      int length = 0;
      if (depth == kMaxDepth || !input_.ReadVarintSizeAsInt(&length) || length > input_.BytesUntilLimit())
        return Broken(Name(field, path));
      const auto limit = input_.PushLimit(length);
      if (absl::Status status = Run(*field->message_type(), Name(field, path), depth + 1); !status.ok()) return status;
      input_.PopLimit(limit);
    }
    return input_.ConsumedEntireMessage() ? absl::OkStatus() : Broken(path);
  }

  void LimitTo(std::size_t size) { input_.PushLimit(static_cast<int>(size)); }

 private:
  static std::string Name(const FieldDescriptor* field, const std::string& path) {
    const std::string name = field == nullptr ? std::string("a field that is not known") : std::string(field->name());
    return path.empty() ? name : absl::StrCat(path, ".", name);
  }
  static absl::Status Broken(const std::string& path) {
    return absl::InvalidArgumentError(
        absl::StrCat(path.empty() ? "the message" : path, ": the bytes are no message of this kind"));
  }

  google::protobuf::io::CodedInputStream input_;
  std::int64_t budget_;
};

}  // namespace

absl::Status CheckEntries(absl::string_view bytes, const Descriptor& type, std::int64_t max_entries) {
  Walk walk(bytes, max_entries);
  walk.LimitTo(bytes.size());
  return walk.Run(type, "", 0);
}

}  // namespace gangway::extender
