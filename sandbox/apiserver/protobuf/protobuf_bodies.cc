#include "sandbox/apiserver/protobuf/protobuf_bodies.h"

#include <cstdint>
#include <map>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "api/field_table.h"
#include "api/json.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "sandbox/apiserver/protobuf/kubernetes_types.h"
#include "sandbox/apiserver/protobuf/wire_check.h"

namespace gangway::sandbox {
namespace {

namespace pb = google::protobuf;

constexpr absl::string_view kMagic("k8s\0", 4);
constexpr absl::string_view kWayOut =
    "; send JSON instead, with kubectl: `-o json --dry-run=client | kubectl apply -f -`";
constexpr std::int64_t kFirstSecond = -62135596800, kLastSecond = 253402300799;  // years 1 to 9999

const pb::FieldDescriptor& Field(const pb::Message& message, const char* name) {
  const pb::FieldDescriptor* field = message.GetDescriptor()->FindFieldByName(name);
  GW_CHECK(field != nullptr);
  return *field;
}
std::string Text(const pb::Message& message, const char* field) {
  return message.GetReflection()->GetString(message, &Field(message, field));
}
std::int64_t Int64(const pb::Message& message, const char* field) {
  return message.GetReflection()->GetInt64(message, &Field(message, field));
}
bool Has(const pb::Message& message, const char* field) {
  return message.GetReflection()->HasField(message, &Field(message, field));
}

// The rules by which Go writes the same structs as JSON; see proto/kubernetes/meta.proto.
class JsonPrinter {
 public:
  explicit JsonPrinter(std::string& out) : json_(out) {}

  void PrintObject(const pb::Message& object, absl::string_view api_version, absl::string_view kind) {
    json_.BeginObject().Field("apiVersion", api_version).Field("kind", kind);
    PrintFields(object);
    json_.EndObject();
  }
  const absl::Status& status() const { return status_; }  // the first thing that cannot be said in JSON

 private:
  void PrintFields(const pb::Message& message) {
    std::vector<const pb::FieldDescriptor*> fields;
    message.GetReflection()->ListFields(message, &fields);  // by number
    for (const pb::FieldDescriptor* field : fields) PrintField(message, *field);
  }

  void PrintField(const pb::Message& message, const pb::FieldDescriptor& field) {
    const pb::Reflection& reflection = *message.GetReflection();
    if (field.json_name() == "inline") return PrintFields(reflection.GetMessage(message, &field));
    if (IsTime(field) && !field.is_repeated() && !IsSet(reflection.GetMessage(message, &field))) return;
    json_.Key(field.json_name());
    if (field.is_map()) return PrintMap(message, field);
    if (!field.is_repeated()) return PrintValue(message, field, -1);
    json_.BeginArray();
    for (int i = 0; i < reflection.FieldSize(message, &field); ++i) PrintValue(message, field, i);
    json_.EndArray();
  }

  void PrintMap(const pb::Message& message, const pb::FieldDescriptor& field) {
    const pb::Reflection& reflection = *message.GetReflection();
    std::map<std::string, const pb::Message*> entries;  // of one key the last, as Go reads them
    for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
      const pb::Message& entry = reflection.GetRepeatedMessage(message, &field, i);
      entries[Text(entry, "key")] = &entry;
    }
    json_.BeginObject();
    for (const auto& [key, entry] : entries) {
      json_.Key(key);
      PrintValue(*entry, *field.message_type()->map_value(), -1);
    }
    json_.EndObject();
  }

  // Element `index` of a list; -1: the one value there is.
  void PrintValue(const pb::Message& message, const pb::FieldDescriptor& field, int index) {
    const pb::Reflection& r = *message.GetReflection();
    const bool one = index < 0;
    switch (field.cpp_type()) {
      case pb::FieldDescriptor::CPPTYPE_BOOL:
        json_.Bool(one ? r.GetBool(message, &field) : r.GetRepeatedBool(message, &field, index));
        return;
      case pb::FieldDescriptor::CPPTYPE_INT32:
        json_.Int(one ? r.GetInt32(message, &field) : r.GetRepeatedInt32(message, &field, index));
        return;
      case pb::FieldDescriptor::CPPTYPE_INT64:
        json_.Int(one ? r.GetInt64(message, &field) : r.GetRepeatedInt64(message, &field, index));
        return;
      case pb::FieldDescriptor::CPPTYPE_STRING: {
        const std::string text = one ? r.GetString(message, &field) : r.GetRepeatedString(message, &field, index);
        json_.String(field.type() == pb::FieldDescriptor::TYPE_BYTES ? absl::Base64Escape(text) : text);
        return;
      }
      case pb::FieldDescriptor::CPPTYPE_MESSAGE:
        PrintMessage(one ? r.GetMessage(message, &field) : r.GetRepeatedMessage(message, &field, index));
        return;
      case pb::FieldDescriptor::CPPTYPE_UINT32:
      case pb::FieldDescriptor::CPPTYPE_UINT64:
      case pb::FieldDescriptor::CPPTYPE_DOUBLE:
      case pb::FieldDescriptor::CPPTYPE_FLOAT:
      case pb::FieldDescriptor::CPPTYPE_ENUM:
        break;
    }
    CheckFailed(__FILE__, __LINE__, "a type that Kubernetes' objects do not have");
  }

  void PrintMessage(const pb::Message& message) {
    const std::string& type = message.GetDescriptor()->name();
    if (type == "Time") return PrintTime(message);
    if (type == "Quantity") return static_cast<void>(json_.String(Text(message, "string")));
    if (type == "IntOrString") return PrintIntOrString(message);
    if (type == "FieldsV1") return PrintRaw(Text(message, "Raw"));
    json_.BeginObject();
    PrintFields(message);
    json_.EndObject();
  }

  static bool IsTime(const pb::FieldDescriptor& field) {
    return field.type() == pb::FieldDescriptor::TYPE_MESSAGE && field.message_type()->name() == "Time";
  }
  static bool IsSet(const pb::Message& time) { return Has(time, "seconds") || Has(time, "nanos"); }

  void PrintTime(const pb::Message& time) {
    const std::int64_t seconds = Int64(time, "seconds");
    if (seconds < kFirstSecond || seconds > kLastSecond) Refuse("a time beyond the years 1 to 9999");
    if (!IsSet(time) || !status_.ok()) return static_cast<void>(json_.Null());
    json_.String(api::FormatTime(absl::FromUnixSeconds(seconds)));
  }

  void PrintIntOrString(const pb::Message& value) {
    const std::int64_t type = Int64(value, "type");
    if (type == 1) return static_cast<void>(json_.String(Text(value, "strVal")));
    if (type != 0) Refuse(absl::StrCat("a value of type ", type, " that is neither a number nor text"));
    json_.Int(value.GetReflection()->GetInt32(value, &Field(value, "intVal")));
  }

  void PrintRaw(const std::string& text) {
    const bool valid = absl::StartsWith(text, "{") && api::ParseCompletely(text).ok();
    if (!valid) Refuse("a fieldsV1 that is no JSON object");
    json_.Raw(valid ? text : "{}");
  }

  void Refuse(absl::string_view what) {
    if (status_.ok()) status_ = absl::InvalidArgumentError(what);
  }

  api::JsonWriter json_;
  absl::Status status_;
};

absl::Status In(absl::string_view kind, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat("the protobuf body (", kind, "): ", status.message(),
                                                  absl::IsUnimplemented(status) ? kWayOut : ""));
}

// The envelope, or the object in it; `kind` says which in errors.
absl::StatusOr<std::unique_ptr<pb::Message>> Read(absl::string_view bytes, const pb::Descriptor& type,
                                                  absl::string_view kind) {
  if (const absl::Status status = CheckWire(bytes, type); !status.ok()) return In(kind, status);
  std::unique_ptr<pb::Message> message = NewMessage(type);
  if (!message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return In(kind, absl::InvalidArgumentError("it cannot be read"));
  }
  return message;
}

}  // namespace

absl::StatusOr<std::string> ProtobufToJson(absl::string_view body) {
  if (!absl::ConsumePrefix(&body, kMagic)) {
    return absl::InvalidArgumentError("the protobuf body does not begin with the bytes \"k8s\\0\"");
  }
  GW_ASSIGN_OR_RETURN(const std::unique_ptr<pb::Message> envelope, Read(body, EnvelopeType(), "its envelope"));
  const pb::Message& type_meta = envelope->GetReflection()->GetMessage(*envelope, &Field(*envelope, "typeMeta"));
  const std::string api_version = Text(type_meta, "apiVersion"), kind = Text(type_meta, "kind");
  if (api_version.empty() || kind.empty()) {
    return absl::InvalidArgumentError("the protobuf body does not say its apiVersion and kind");
  }
  const std::string encoding = Text(*envelope, "contentEncoding"), content = Text(*envelope, "contentType");
  if (!encoding.empty() || (!content.empty() && content != kProtobufMediaType)) {
    return In(kind, absl::UnimplementedError(absl::StrCat("content type \"", content, "\" and encoding \"", encoding,
                                                          "\" within the body are not supported")));
  }
  const pb::Descriptor* type = FindObjectType(api_version, kind);
  if (type == nullptr) {
    return absl::UnimplementedError(
        absl::StrCat("a protobuf body of kind ", kind, " (", api_version, ") is not supported", kWayOut));
  }
  GW_ASSIGN_OR_RETURN(const std::unique_ptr<pb::Message> object, Read(Text(*envelope, "raw"), *type, kind));
  std::string json;
  JsonPrinter printer(json);
  printer.PrintObject(*object, api_version, kind);
  if (!printer.status().ok()) return In(kind, printer.status());
  return json;
}

}  // namespace gangway::sandbox
