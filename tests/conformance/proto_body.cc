#include "tests/conformance/proto_body.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "api/field_table.h"
#include "api/json_value.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "sandbox/apiserver/protobuf/kubernetes_types.h"
#include "tests/conformance/text.h"

namespace gangway::testutil {
namespace {

namespace json = boost::json;
namespace pb = google::protobuf;

absl::Status Wrong(const std::string& path, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("as protobuf: ", path, ": ", what));
}

const pb::FieldDescriptor& Named(const pb::Message& message, const char* name) {
  return *message.GetDescriptor()->FindFieldByName(name);
}

absl::Status FillMessage(const json::value& value, const std::string& path, pb::Message& message);

// The field and the message that has it: `message` or one that Go writes in line. Null: neither has.
std::pair<const pb::FieldDescriptor*, pb::Message*> FieldOf(pb::Message& message, const std::string& name) {
  const pb::Descriptor& type = *message.GetDescriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    if (type.field(i)->json_name() == name) return {type.field(i), &message};
  }
  for (int i = 0; i < type.field_count(); ++i) {
    const pb::FieldDescriptor& field = *type.field(i);
    if (field.json_name() != "inline") continue;
    const auto found = FieldOf(*message.GetReflection()->MutableMessage(&message, &field), name);
    if (found.first != nullptr) return found;
  }
  return {nullptr, nullptr};
}

// One value: of the field itself, or one more of its list.
absl::Status FillValue(const json::value& value, const std::string& path, const pb::FieldDescriptor& field,
                       pb::Message& message) {
  const pb::Reflection& r = *message.GetReflection();
  const bool more = field.is_repeated();
  if (field.cpp_type() == pb::FieldDescriptor::CPPTYPE_MESSAGE) {
    return FillMessage(value, path, more ? *r.AddMessage(&message, &field) : *r.MutableMessage(&message, &field));
  }
  if (field.cpp_type() == pb::FieldDescriptor::CPPTYPE_STRING && value.is_string()) {
    std::string text = ToText(value.get_string());
    if (field.type() == pb::FieldDescriptor::TYPE_BYTES && !absl::Base64Unescape(std::string(text), &text))
      return Wrong(path, "is not base64");
    more ? r.AddString(&message, &field, text) : r.SetString(&message, &field, text);
  } else if (field.cpp_type() == pb::FieldDescriptor::CPPTYPE_BOOL && value.is_bool()) {
    more ? r.AddBool(&message, &field, value.get_bool()) : r.SetBool(&message, &field, value.get_bool());
  } else if (field.cpp_type() == pb::FieldDescriptor::CPPTYPE_INT32 && value.is_int64()) {
    const auto number = static_cast<std::int32_t>(value.get_int64());
    more ? r.AddInt32(&message, &field, number) : r.SetInt32(&message, &field, number);
  } else if (field.cpp_type() == pb::FieldDescriptor::CPPTYPE_INT64 && value.is_int64()) {
    more ? r.AddInt64(&message, &field, value.get_int64()) : r.SetInt64(&message, &field, value.get_int64());
  } else {
    return Wrong(path, absl::StrCat("cannot be ", api::ToJson(value)));
  }
  return absl::OkStatus();
}

absl::Status FillMap(const json::object& map, const std::string& path, const pb::FieldDescriptor& field,
                     pb::Message& message) {
  for (const json::key_value_pair& member : map) {
    pb::Message& entry = *message.GetReflection()->AddMessage(&message, &field);
    entry.GetReflection()->SetString(&entry, &Named(entry, "key"), ToText(member.key()));
    GW_RETURN_IF_ERROR(FillValue(member.value(), absl::StrCat(path, ".", ToText(member.key())),
                                 *field.message_type()->map_value(), entry));
  }
  return absl::OkStatus();
}

absl::Status FillField(const json::value& value, const std::string& path, const pb::FieldDescriptor& field,
                       pb::Message& message) {
  if (field.is_map() && value.is_object()) return FillMap(value.get_object(), path, field, message);
  if (!field.is_repeated()) return FillValue(value, path, field, message);
  if (!value.is_array()) return Wrong(path, "is a list");
  for (const json::value& each : value.get_array()) GW_RETURN_IF_ERROR(FillValue(each, path, field, message));
  return absl::OkStatus();
}

// The types that are one value in JSON; false: `message` is none of them.
bool FillPlain(const json::value& value, pb::Message& message) {
  const std::string& type = message.GetDescriptor()->name();
  const pb::Reflection& r = *message.GetReflection();
  if (type == "Quantity" && value.is_string()) {
    r.SetString(&message, &Named(message, "string"), ToText(value.get_string()));
  } else if (type == "IntOrString" && value.is_int64()) {
    r.SetInt32(&message, &Named(message, "intVal"), static_cast<std::int32_t>(value.get_int64()));
  } else if (type == "IntOrString" && value.is_string()) {
    r.SetInt64(&message, &Named(message, "type"), 1);
    r.SetString(&message, &Named(message, "strVal"), ToText(value.get_string()));
  } else if (type == "Time" && value.is_string()) {
    const absl::StatusOr<absl::Time> time = api::ParseTime(ToText(value.get_string()));
    if (!time.ok()) return false;
    r.SetInt64(&message, &Named(message, "seconds"), absl::ToUnixSeconds(*time));
  } else {
    return false;
  }
  return true;
}

absl::Status FillMessage(const json::value& value, const std::string& path, pb::Message& message) {
  if (FillPlain(value, message)) return absl::OkStatus();
  if (!value.is_object()) return Wrong(path, absl::StrCat("cannot be ", api::ToJson(value)));
  for (const json::key_value_pair& member : value.get_object()) {
    const std::string name = ToText(member.key()), at = absl::StrCat(path, path.empty() ? "" : ".", name);
    const auto [field, owner] = FieldOf(message, name);
    if (field == nullptr)
      return Wrong(at, absl::StrCat(message.GetDescriptor()->name(), " in proto/kubernetes has no such field"));
    GW_RETURN_IF_ERROR(FillField(member.value(), at, *field, *owner));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> ToProtobuf(const json::value& object) {
  if (!object.is_object()) return absl::InvalidArgumentError("as protobuf: only objects have a type");
  json::object fields = object.get_object();
  const auto take = [&](const char* name) {
    const json::value* const value = fields.if_contains(name);
    const std::string text = value != nullptr && value->is_string() ? ToText(value->get_string()) : "";
    fields.erase(name);
    return text;
  };
  const std::string api_version = take("apiVersion"), kind = take("kind");
  const pb::Descriptor* const type = sandbox::FindObjectType(api_version, kind);
  if (type == nullptr)
    return absl::InvalidArgumentError(absl::StrCat("as protobuf: proto/kubernetes has no ", api_version, " ", kind));
  const std::unique_ptr<pb::Message> message = sandbox::NewMessage(*type);
  GW_RETURN_IF_ERROR(FillMessage(json::value(fields), "", *message));
  const std::unique_ptr<pb::Message> envelope = sandbox::NewMessage(sandbox::EnvelopeType());
  const pb::Reflection& r = *envelope->GetReflection();
  pb::Message& type_meta = *r.MutableMessage(envelope.get(), &Named(*envelope, "typeMeta"));
  type_meta.GetReflection()->SetString(&type_meta, &Named(type_meta, "apiVersion"), api_version);
  type_meta.GetReflection()->SetString(&type_meta, &Named(type_meta, "kind"), kind);
  r.SetString(envelope.get(), &Named(*envelope, "raw"), message->SerializeAsString());
  return absl::StrCat(absl::string_view("k8s\0", 4), envelope->SerializeAsString());
}

}  // namespace gangway::testutil
