#include "kube/client/fenced_client.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace gangway::kube {

void FencedClient::Send(Request request, Token owner, Done done) {
  if (!IsWriteMethod(request.method) || fence_.open())
    return client_.Send(std::move(request), std::move(owner), std::move(done));
  loop_.Post(std::move(owner),
             [done = std::move(done), refused = FencedOff(absl::StrCat(request.method, " ", request.path))]() mutable {
               done(std::move(refused));
             });
}

std::unique_ptr<Watch> FencedClient::StartWatch(Request request, Token owner, OnFrames on_frames, OnEnd on_end) {
  return client_.StartWatch(std::move(request), std::move(owner), std::move(on_frames), std::move(on_end));
}

}  // namespace gangway::kube
