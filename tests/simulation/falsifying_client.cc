#include "tests/simulation/falsifying_client.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "api/json_value.h"
#include "api/kinds/kinds.h"
#include "base/strings.h"
#include "kube/client/status.h"

namespace gangway::testutil {
namespace {

namespace json = boost::json;

using Show = std::function<void(const api::Resource&, json::object&)>;

Bytes Shown(const Show& show, const api::Resource& resource, const Bytes& bytes) {
  auto value = api::ParseJson(*bytes);
  if (!value.ok() || !value->is_object()) return bytes;
  json::object& object = value->as_object();
  if (json::value* const items = object.if_contains("items"); items != nullptr && items->is_array()) {
    for (json::value& item : items->as_array()) show(resource, item.as_object());
  } else if (object.contains("metadata") && !object.contains("details")) {
    show(resource, object);
  }
  return MakeBytes(api::ToJson(*value));
}

}  // namespace

const api::Resource* ResourceOf(absl::string_view path) {
  const std::vector<absl::string_view> parts = absl::StrSplit(path, '/', absl::SkipEmpty());
  const std::size_t version = parts[0] == "api" ? 1 : 2;
  const absl::string_view group = version == 1 ? "" : parts[1];
  const bool in_namespace = parts.size() > version + 3 && parts[version + 1] == "namespaces";
  const std::size_t plural = version + (in_namespace ? 3 : 1);
  if (parts.size() <= plural) return nullptr;
  const std::span<const api::KindRow> kinds = api::Kinds();
  const auto found = std::find_if(kinds.begin(), kinds.end(), [&](const api::KindRow& kind) {
    return View(kind.resource->group) == group && View(kind.resource->plural) == parts[plural];
  });
  return found == kinds.end() ? nullptr : found->resource;
}

kube::Response Refusal(int code, absl::string_view reason, absl::string_view message) {
  kube::Response response;
  response.code = code;
  response.content_type = "application/json";
  response.body = MakeBytes(kube::StatusBody(code, reason, message));
  return response;
}

void FalsifyingClient::Send(kube::Request request, Token owner, Done done) {
  if (lies_.send) {
    if (std::optional<kube::Response> answer = lies_.send(request)) {
      return loop_.Post(owner,
                        [answer = *std::move(answer), done = std::move(done)]() mutable { done(std::move(answer)); });
    }
  }
  const api::Resource* const resource = ResourceOf(request.path);
  if (!lies_.show || resource == nullptr) return client_->Send(std::move(request), owner, std::move(done));
  client_->Send(std::move(request), owner,
                [show = lies_.show, resource, done = std::move(done)](absl::StatusOr<kube::Response> reply) mutable {
                  if (reply.ok() && reply->ok()) reply->body = Shown(show, *resource, reply->body);
                  done(std::move(reply));
                });
}

std::unique_ptr<kube::Watch> FalsifyingClient::StartWatch(kube::Request request, Token owner, OnFrames on_frames,
                                                          OnEnd on_end) {
  const api::Resource* const resource = ResourceOf(request.path);
  if (!lies_.show || resource == nullptr)
    return client_->StartWatch(std::move(request), owner, std::move(on_frames), std::move(on_end));
  return client_->StartWatch(
      std::move(request), owner,
      [show = lies_.show, resource, on_frames = std::move(on_frames)](std::vector<kube::Frame> frames) mutable {
        for (kube::Frame& frame : frames) {
          if (frame.type != kube::FrameType::kError && frame.type != kube::FrameType::kBookmark)
            frame.object = Shown(show, *resource, frame.object);
        }
        on_frames(std::move(frames));
      },
      std::move(on_end));
}

}  // namespace gangway::testutil
