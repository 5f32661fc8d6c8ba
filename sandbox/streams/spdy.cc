#include "sandbox/streams/spdy.h"

#include <zlib.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "sandbox/streams/spdy_dictionary.h"

namespace gangway::sandbox {
namespace {

constexpr std::uint32_t kControl = 0x80000000, kVersion = 3, kFin = 1, kCancel = 5;
constexpr std::size_t kHead = 8;
enum ControlType : std::uint32_t {
  kSynStream = 1,
  kSynReply = 2,
  kRstStream = 3,
  kSettings = 4,
  kPing = 6,
  kGoAway = 7,
  kHeaders = 8,
  kWindowUpdate = 9,
};

std::uint32_t WordAt(absl::string_view bytes, std::size_t at) {
  std::uint32_t out = 0;
  for (std::size_t i = 0; i < 4; ++i) out = out << 8 | static_cast<unsigned char>(bytes[at + i]);
  return out;
}
void AppendWord(std::uint32_t word, std::string& out) {
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<char>(word >> shift & 0xff));
}

std::string ControlFrame(std::uint32_t type, absl::string_view payload) {
  std::string out;
  AppendWord(kControl | kVersion << 16 | type, out);
  AppendWord(static_cast<std::uint32_t>(payload.size()), out);
  absl::StrAppend(&out, payload);
  return out;
}

absl::Status Broken(absl::string_view what) { return absl::InvalidArgumentError(absl::StrCat("SPDY: ", what)); }

// Of a header block: a length and so many bytes.
std::optional<std::string> TakeText(absl::string_view& block) {
  if (block.size() < 4) return std::nullopt;
  const std::size_t length = WordAt(block, 0);
  block.remove_prefix(4);
  if (length > block.size()) return std::nullopt;
  std::string out(block.substr(0, length));
  block.remove_prefix(length);
  return out;
}

absl::Status ParseHeaders(absl::string_view block, std::map<std::string, std::string>& out) {
  if (block.size() < 4) return Broken("a header block that is cut off");
  const std::uint32_t count = WordAt(block, 0);
  block.remove_prefix(4);
  if (count > SpdyReader::kMaxHeaders) return Broken(absl::StrCat(count, " headers"));
  for (std::uint32_t i = 0; i < count; ++i) {
    std::optional<std::string> name = TakeText(block), value;
    if (name.has_value()) value = TakeText(block);
    if (!value.has_value()) return Broken("a header block that is cut off");
    out[absl::AsciiStrToLower(*name)] = *std::move(value);
  }
  return absl::OkStatus();
}

}  // namespace

class SpdyReader::Inflater {
 public:
  Inflater() { GW_CHECK(inflateInit(&stream_) == Z_OK); }
  ~Inflater() { inflateEnd(&stream_); }
  absl::Status Inflate(absl::string_view bytes, std::string& out) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    while (true) {
      char piece[4096];
      stream_.next_out = reinterpret_cast<Bytef*>(piece);
      stream_.avail_out = sizeof piece;
      int result = inflate(&stream_, Z_SYNC_FLUSH);
      if (result == Z_NEED_DICT) {
        const std::string& words = SpdyDictionary();
        result = inflateSetDictionary(&stream_, reinterpret_cast<const Bytef*>(words.data()),
                                      static_cast<uInt>(words.size()));
        if (result == Z_OK) continue;
      }
      // Nothing came in and nothing went out: it is all there.
      if (result != Z_OK && result != Z_BUF_ERROR) return Broken("headers that cannot be decompressed");
      out.append(piece, sizeof piece - stream_.avail_out);
      if (out.size() > kMaxHeaderBytes) return Broken("headers that are too large");
      if (stream_.avail_out > 0) return absl::OkStatus();
    }
  }

 private:
  z_stream stream_{};
};

SpdyReader::SpdyReader() : inflater_(std::make_unique<Inflater>()) {}
SpdyReader::~SpdyReader() = default;

absl::Status SpdyReader::Read(absl::string_view bytes, std::vector<SpdyFrame>& frames) {
  while (!bytes.empty() || (data_left_ == 0 && data_fin_)) {
    if (data_left_ > 0) {
      SpdyFrame& frame = frames.emplace_back();
      frame.id = data_id_;
      frame.data = std::string(bytes.substr(0, data_left_));
      bytes.remove_prefix(frame.data.size());
      data_left_ -= frame.data.size();
      if (data_left_ == 0) frame.fin = std::exchange(data_fin_, false);
      continue;
    }
    if (std::exchange(data_fin_, false)) {  // of an empty frame
      SpdyFrame& frame = frames.emplace_back();
      frame.id = data_id_;
      frame.fin = true;
      continue;
    }
    const std::size_t wanted =
        left_.size() < kHead ? kHead : kHead + (WordAt(left_, 4) & 0xffffff);  // of a control frame: all of it
    const absl::string_view more = bytes.substr(0, wanted - left_.size());
    absl::StrAppend(&left_, more);
    bytes.remove_prefix(more.size());
    if (left_.size() < kHead) break;
    const std::uint32_t first = WordAt(left_, 0), second = WordAt(left_, 4);
    const std::size_t length = second & 0xffffff;
    const bool fin = (second >> 24 & kFin) != 0;
    if ((first & kControl) == 0) {
      data_id_ = first;
      data_left_ = length;
      data_fin_ = fin;
      left_.clear();
      continue;
    }
    if ((first & ~kControl) >> 16 != kVersion) return Broken("another version than 3");
    if (length > kMaxControl) return Broken(absl::StrCat("a control frame of ", length, " bytes"));
    if (left_.size() < kHead + length) continue;
    const std::string frame = std::exchange(left_, {});
    GW_RETURN_IF_ERROR(ReadControl(first & 0xffff, fin, absl::string_view(frame).substr(kHead), frames));
  }
  return absl::OkStatus();
}

absl::Status SpdyReader::ReadControl(std::uint32_t type, bool fin, absl::string_view payload,
                                     std::vector<SpdyFrame>& frames) {
  const std::size_t fixed = type == kSynStream ? 10 : type == kSettings ? 0 : 4;
  if (payload.size() < fixed) return Broken("a control frame that is cut off");
  SpdyFrame frame;
  frame.id = fixed > 0 ? WordAt(payload, 0) & ~kControl : 0;
  frame.fin = fin;
  switch (type) {
    case kSynStream:
    case kHeaders:
    case kSynReply: {
      // All of them move the decompression on.
      std::string block;
      GW_RETURN_IF_ERROR(inflater_->Inflate(payload.substr(fixed), block));
      if (type != kSynStream) return absl::OkStatus();
      frame.kind = SpdyFrame::Kind::kOpen;
      GW_RETURN_IF_ERROR(ParseHeaders(block, frame.headers));
      break;
    }
    case kRstStream:
      frame.kind = SpdyFrame::Kind::kReset;
      break;
    case kPing:
      frame.kind = SpdyFrame::Kind::kPing;
      break;
    case kGoAway:
      frame.kind = SpdyFrame::Kind::kGoAway;
      break;
    default:
      return absl::OkStatus();  // SETTINGS, WINDOW_UPDATE, and what is not known, which the draft says to ignore
  }
  frames.push_back(std::move(frame));
  return absl::OkStatus();
}

class SpdyWriter::Deflater {
 public:
  Deflater() {
    GW_CHECK(deflateInit(&stream_, Z_DEFAULT_COMPRESSION) == Z_OK);
    const std::string& words = SpdyDictionary();
    GW_CHECK(deflateSetDictionary(&stream_, reinterpret_cast<const Bytef*>(words.data()),
                                  static_cast<uInt>(words.size())) == Z_OK);
  }
  ~Deflater() { deflateEnd(&stream_); }
  // Of a block that is small.
  std::string Deflate(std::string block) {
    std::string out(deflateBound(&stream_, static_cast<uLong>(block.size())) + 16, '\0');
    stream_.next_in = reinterpret_cast<Bytef*>(block.data());
    stream_.avail_in = static_cast<uInt>(block.size());
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(out.size());
    GW_CHECK(deflate(&stream_, Z_SYNC_FLUSH) == Z_OK && stream_.avail_in == 0);
    out.resize(out.size() - stream_.avail_out);
    return out;
  }

 private:
  z_stream stream_{};
};

SpdyWriter::SpdyWriter() : deflater_(std::make_unique<Deflater>()) {}
SpdyWriter::~SpdyWriter() = default;

std::string SpdyWriter::Accept(std::uint32_t stream) {
  std::string payload, block;
  AppendWord(stream, payload);
  AppendWord(0, block);  // so many headers
  absl::StrAppend(&payload, deflater_->Deflate(std::move(block)));
  return ControlFrame(kSynReply, payload);
}

std::string SpdyWriter::Data(std::uint32_t stream, absl::string_view bytes, bool fin) {
  GW_CHECK(bytes.size() <= 0xffffff);
  std::string out;
  AppendWord(stream & ~kControl, out);
  AppendWord((fin ? kFin << 24 : 0) | static_cast<std::uint32_t>(bytes.size()), out);
  absl::StrAppend(&out, bytes);
  return out;
}

std::string SpdyWriter::Reset(std::uint32_t stream) {
  std::string payload;
  AppendWord(stream, payload);
  AppendWord(kCancel, payload);
  return ControlFrame(kRstStream, payload);
}

std::string SpdyWriter::Ping(std::uint32_t id) {
  std::string payload;
  AppendWord(id, payload);
  return ControlFrame(kPing, payload);
}

}  // namespace gangway::sandbox
