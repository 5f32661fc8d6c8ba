#include "sandbox/apiserver/protobuf/wire_check.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format.h>

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/utf8.h"

namespace gangway::sandbox {
namespace {

namespace pb = google::protobuf;
using pb::internal::WireFormat;
using pb::internal::WireFormatLite;

bool IsUtf8(absl::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = Utf8Length(text, at);
    if (length == 0) return false;
    at += length;
  }
  return true;
}

class WireChecker {
 public:
  // Recursion ends with the types: none contains itself.
  absl::Status Check(absl::string_view bytes, const pb::Descriptor& type) {
    pb::io::CodedInputStream in(reinterpret_cast<const std::uint8_t*>(bytes.data()), static_cast<int>(bytes.size()));
    while (static_cast<std::size_t>(in.CurrentPosition()) < bytes.size()) {
      const std::uint32_t tag = in.ReadTag();
      const pb::FieldDescriptor* field = nullptr;
      const int number = WireFormatLite::GetTagFieldNumber(tag);
      if (number == 0) return Broken("a broken tag");
      field = type.FindFieldByNumber(number);
      if (field == nullptr) {
        return absl::UnimplementedError(absl::StrCat("field ", number, " of ", Place(type.name()), " is not known"));
      }
      if (++values_ > kMaxProtobufValues) {
        return absl::ResourceExhaustedError(absl::StrCat("more than ", kMaxProtobufValues, " values"));
      }
      const std::size_t parent = path_.size();
      absl::StrAppend(&path_, parent == 0 ? "" : ".", field->name());
      GW_RETURN_IF_ERROR(CheckValue(in, WireFormatLite::GetTagWireType(tag), *field));
      path_.resize(parent);
    }
    return absl::OkStatus();
  }

 private:
  absl::Status CheckValue(pb::io::CodedInputStream& in, WireFormatLite::WireType wire,
                          const pb::FieldDescriptor& field) {
    const bool packed = field.is_packable() && wire == WireFormatLite::WIRETYPE_LENGTH_DELIMITED;
    if (wire != WireFormat::WireTypeForFieldType(field.type()) && !packed) return Broken("a wrong wire type");
    if (wire != WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
      std::uint64_t value;  // every number and bool of these types is a varint
      return in.ReadVarint64(&value) ? absl::OkStatus() : Broken("cut short");
    }
    std::uint32_t length;
    if (!in.ReadVarint32(&length)) return Broken("cut short");
    const void* data = nullptr;
    int left = 0;
    in.GetDirectBufferPointerInline(&data, &left);
    if (length > static_cast<std::uint32_t>(left)) return Broken("cut short");
    const absl::string_view value(static_cast<const char*>(data), length);
    in.Skip(static_cast<int>(length));
    if (field.type() == pb::FieldDescriptor::TYPE_MESSAGE) return Check(value, *field.message_type());
    if (field.type() == pb::FieldDescriptor::TYPE_STRING && !IsUtf8(value)) return Broken("text that is not UTF-8");
    return absl::OkStatus();
  }
  absl::Status Broken(absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat(path_.empty() ? "" : path_, path_.empty() ? "" : ": ", what));
  }
  std::string Place(absl::string_view type) const { return path_.empty() ? std::string(type) : path_; }

  std::string path_;  // of the field being looked at
  int values_ = 0;
};

}  // namespace

absl::Status CheckWire(absl::string_view bytes, const pb::Descriptor& type) { return WireChecker().Check(bytes, type); }

}  // namespace gangway::sandbox
