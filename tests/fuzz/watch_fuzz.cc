// What an API server sends: the frames of a watch and the objects in them, refusals. However the bytes are cut, the
// frames are the same; written again they are the same.
#include <string>

#include "absl/strings/match.h"
#include "api/volcano/job.h"
#include "api/volcano/scheduling.h"
#include "base/hash.h"
#include "kube/client/frame_splitter.h"
#include "kube/client/status.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/round_trip.h"

namespace gangway::testutil {
namespace {

using kube::Frame;

constexpr std::size_t kMaxFrame = 4096;

struct Stream {
  absl::Status status;
  std::vector<Frame> frames;
};

// In pieces of up to `most` bytes, cut where `draw` says.
Stream Read(absl::string_view bytes, std::size_t most, std::uint64_t draw) {
  Stream out;
  kube::FrameSplitter splitter(kMaxFrame);
  while (!bytes.empty() && out.status.ok()) {
    draw = draw * 6364136223846793005u + 1442695040888963407u;
    const std::size_t size = std::min<std::size_t>(bytes.size(), 1 + (draw >> 33) % most);
    out.status = splitter.Feed(bytes.substr(0, size), out.frames);
    bytes.remove_prefix(size);
  }
  if (out.status.ok()) {
    out.status = splitter.Finish();
  } else {
    const std::size_t before = out.frames.size();
    Require(!splitter.Feed("{\"type\":\"ADDED\",\"object\":{}}\n", out.frames).ok() && out.frames.size() == before,
            "after an error nothing more is taken", out.status.message());
  }
  return out;
}

void RequireSame(const Stream& a, const Stream& b, const char* property, absl::string_view bytes) {
  bool same = a.frames.size() == b.frames.size() && a.status.code() == b.status.code();
  for (std::size_t i = 0; same && i < a.frames.size(); ++i)
    same = a.frames[i].type == b.frames[i].type && *a.frames[i].object == *b.frames[i].object;
  Require(same, property, bytes);
}

void TryFrame(const Frame& frame) {
  Require(frame.object->size() <= kMaxFrame, "a frame is within its limit", *frame.object);
  RequireRoundTrip<api::volcano::Job>(*frame.object);
  RequireRoundTrip<api::volcano::PodGroup>(*frame.object);
  if (frame.type == kube::FrameType::kError)
    Require(!kube::StatusFromObject(*frame.object).ok(), "an error frame is an error", *frame.object);
  ++came_out;
}

void TryRefusal(absl::string_view body) {
  for (const int code : {200, 404, 410, 429, 503, 999}) {
    kube::Response response;
    response.code = code;
    response.body = MakeBytes(std::string(body));
    const absl::Status status = kube::StatusFromResponse(response);
    Require(status.ok() == (code == 200), "only 2xx is success, whatever the body says", body);
    Require(status.message().size() <= body.size() + 100, "a refusal's message is no larger than what was sent",
            status.message());
  }
}

}  // namespace
}  // namespace gangway::testutil

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gangway::testutil;
  const absl::string_view bytes = TextOf(data, size);
  const Stream whole = Read(bytes, size + 1, 0);
  RequireSame(whole, Read(bytes, 1, 0), "frames are the same byte by byte", bytes);
  RequireSame(whole, Read(bytes, 40, gangway::StableHash(bytes)), "frames are the same however they are cut", bytes);
  std::string written;
  for (const Frame& frame : whole.frames) gangway::kube::AppendFrame(frame, written);
  const Stream again = Read(written, written.size() + 1, 0);
  if (again.status.ok()) RequireSame({{}, whole.frames}, again, "what is written is the same frames", written);
  for (const Frame& frame : whole.frames) TryFrame(frame);
  TryRefusal(bytes);
  return 0;
}
