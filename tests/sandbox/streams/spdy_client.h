// What `kubectl port-forward` sends, for tests: frames of SPDY/3.1 with headers compressed over the whole session.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/check.h"
#include "sandbox/streams/spdy_dictionary.h"

namespace gangway::testutil {

class SpdyClient {
 public:
  SpdyClient() {
    GW_CHECK(deflateInit(&stream_, Z_BEST_COMPRESSION) == Z_OK);
    const std::string& words = sandbox::SpdyDictionary();
    deflateSetDictionary(&stream_, reinterpret_cast<const Bytef*>(words.data()), static_cast<uInt>(words.size()));
  }
  ~SpdyClient() { deflateEnd(&stream_); }
  SpdyClient(const SpdyClient&) = delete;
  SpdyClient& operator=(const SpdyClient&) = delete;

  static std::string Word(std::uint32_t word) {
    std::string out;
    for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<char>(word >> shift & 0xff));
    return out;
  }
  static std::string Control(std::uint32_t type, const std::string& payload, std::uint32_t flags = 0) {
    return absl::StrCat(Word(0x80030000 | type), Word(flags << 24 | static_cast<std::uint32_t>(payload.size())),
                        payload);
  }
  std::string Open(std::uint32_t id, const std::vector<std::pair<std::string, std::string>>& headers) {
    std::string block = Word(static_cast<std::uint32_t>(headers.size()));
    for (const auto& [name, value] : headers)
      absl::StrAppend(&block, Word(static_cast<std::uint32_t>(name.size())), name,
                      Word(static_cast<std::uint32_t>(value.size())), value);
    return Control(1, absl::StrCat(Word(id), Word(0), std::string(2, '\0'), Deflate(std::move(block))));
  }
  static std::string Data(std::uint32_t id, absl::string_view bytes, bool fin = false) {
    return absl::StrCat(Word(id), Word((fin ? 1U << 24 : 0) | static_cast<std::uint32_t>(bytes.size())), bytes);
  }

 private:
  std::string Deflate(std::string block) {
    std::string out(block.size() + 1024, '\0');
    stream_.next_in = reinterpret_cast<Bytef*>(block.data());
    stream_.avail_in = static_cast<uInt>(block.size());
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(out.size());
    GW_CHECK(deflate(&stream_, Z_SYNC_FLUSH) == Z_OK);
    out.resize(out.size() - stream_.avail_out);
    return out;
  }
  z_stream stream_{};
};

}  // namespace gangway::testutil
