// Binary bodies of Kubernetes' typed clients into JSON. An input is a body, or what makes one: a line "v1 ConfigMap",
// then the object in protobuf's text format. What comes out is complete JSON of that kind, in proportion to the body;
// whatever is not known is refused.
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/json.h"
#include "api/json_value.h"
#include "sandbox/apiserver/protobuf/kubernetes_types.h"
#include "sandbox/apiserver/protobuf/protobuf_bodies.h"
#include "tests/fuzz/fuzz_target.h"

namespace gangway::testutil {
namespace {

namespace pb = google::protobuf;

constexpr absl::string_view kMagic("k8s\0", 4);

class Silent : public pb::io::ErrorCollector {
  void AddError(int, pb::io::ColumnNumber, const std::string&) override {}
};

// "" when the text makes none.
std::string BodyOf(absl::string_view text) {
  if (absl::StartsWith(text, kMagic)) return std::string(text);
  const std::size_t line = std::min(text.find('\n'), text.size()), blank = text.substr(0, line).find(' ');
  if (blank == absl::string_view::npos || line == text.size()) return "";
  const std::string api_version(text.substr(0, blank)), kind(text.substr(blank + 1, line - blank - 1));
  const pb::Descriptor* const type = sandbox::FindObjectType(api_version, kind);
  if (type == nullptr) return "";
  const std::unique_ptr<pb::Message> object = sandbox::NewMessage(*type);
  pb::TextFormat::Parser parser;
  Silent silent;
  parser.RecordErrorsTo(&silent);
  parser.SetRecursionLimit(100);
  if (!parser.ParseFromString(std::string(text.substr(line + 1)), object.get())) return "";
  const std::unique_ptr<pb::Message> envelope = sandbox::NewMessage(sandbox::EnvelopeType());
  std::string header, raw = object->SerializePartialAsString();
  for (const auto& [number, field] : {std::pair{1, &api_version}, {2, &kind}}) {
    absl::StrAppend(&header, std::string(1, static_cast<char>(number << 3 | 2)),
                    std::string(1, static_cast<char>(field->size())), *field);
  }
  std::string length;
  for (std::size_t left = raw.size();; left >>= 7) {
    length.push_back(static_cast<char>(left < 0x80 ? left : (left & 0x7f) | 0x80));
    if (left < 0x80) break;
  }
  return absl::StrCat(kMagic, "\x0a", std::string(1, static_cast<char>(header.size())), header, "\x12", length, raw);
}

}  // namespace
}  // namespace gangway::testutil

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gangway;
  using testutil::Require;
  const absl::string_view text = testutil::TextOf(data, size);
  const std::string body = testutil::BodyOf(text);
  const absl::StatusOr<std::string> json = sandbox::ProtobufToJson(body), again = sandbox::ProtobufToJson(body);
  Require(json.status() == again.status() && (!json.ok() || *json == *again), "the same body means the same", text);
  if (!json.ok()) {
    const absl::StatusCode code = json.status().code();
    Require(code == absl::StatusCode::kInvalidArgument || code == absl::StatusCode::kUnimplemented ||
                code == absl::StatusCode::kResourceExhausted,
            "a refusal is one of three", json.status().ToString());
    Require(json.status().message().size() <= body.size() + 1000, "a refusal is in proportion",
            json.status().message());
    return 0;
  }
  Require(api::ParseCompletely(*json, {.max_depth = 250}).ok(), "what comes out is complete JSON", *json);
  const absl::StatusOr<boost::json::value> object = api::ParseJson(*json);
  Require(object.ok() && object->is_object() && object->get_object().contains("apiVersion") &&
              object->get_object().contains("kind"),
          "what comes out has a kind", *json);
  Require(json->size() <= 64 * body.size() + 200, "what comes out is in proportion", *json);
  ++testutil::came_out;
  return 0;
}
