#include "protect/nal_tool.h"

#include <string>

#include "cu264/status.h"

namespace cu264 {

StreamTool::~StreamTool() = default;

StreamResult run_tool(StreamTool& tool, std::span<const std::uint8_t> stream) {
  StreamResult result;
  result.stream = tool.access_units(stream);
  result.payload = tool.finish();
  return result;
}

}  // namespace cu264

namespace cu264::protect {
namespace {

void append(Bytes& out, ByteSpan bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

void refuse_unit_type(int type) {
  if (type >= kNalPartitionA && type <= kNalPartitionC) {
    throw Error(ErrorCode::bad_input, "the stream has data partitioning",
                "only whole slices can be worked on");
  }
  if (type == 19) {
    throw Error(ErrorCode::bad_input, "the stream has auxiliary pictures",
                "only primary pictures can be worked on");
  }
  if (type == kNalSliceExtension || type == 21) {
    throw Error(ErrorCode::bad_input, "the stream has scalable or multiview layers",
                "only single-layer streams can be worked on");
  }
}

}  // namespace

std::unique_ptr<StreamKeys> checked_keys(const ProtectionKey& key, const Message& message) {
  auto keys = std::make_unique<StreamKeys>(key, message.nonce);
  if (!equal_in_constant_time(keys->check(), message.key_check)) {
    throw Error(ErrorCode::bad_input, "the key is not the one the stream was protected with",
                "give the right key");
  }
  return keys;
}

Message new_message(MessageKind kind, const StreamKeys& keys) {
  Message message;
  message.kind = kind;
  message.nonce = keys.nonce();
  message.key_check = keys.check();
  return message;
}

void NalTool::parameter_sets(std::span<const std::uint8_t> stream) {
  for (const NalUnit& nal : split_annexb(stream).units) sets_.read(nal);
}

std::vector<std::uint8_t> NalTool::access_units(std::span<const std::uint8_t> stream) {
  const NalUnits found = split_annexb(stream);
  Bytes out;
  out.reserve(stream.size() + stream.size() / 64 + 256);
  for (const NalUnit& nal : found.units) {
    refuse_unit_type(nal.type());
    if (nal.type() == kNalSlice || nal.type() == kNalSliceIdr) {
      slice_unit(nal, out);
    } else {
      any_unit(nal, out);
    }
  }
  append(out, found.tail);
  return out;
}

void NalTool::any_unit(const NalUnit& nal, Bytes& out) {
  sets_.read(nal);
  if (nal.type() == kNalSei) {
    const std::optional<Message> found = read_sei_nal(nal);
    if (found && message(*found)) {
      // Its start code has four bytes; what more lies before it is the stream's own.
      const std::size_t own = nal.prefix.size() < 4 ? nal.prefix.size() : 4;
      return append(out, nal.prefix.first(nal.prefix.size() - own));
    }
  }
  append(out, nal.prefix);
  append(out, nal.unit);
}

void NalTool::slice_unit(const NalUnit& nal, Bytes& out) {
  unescape(nal.unit, rbsp_);
  const ByteSpan payload(rbsp_.data(), rbsp_.size() - kRbspPadding);
  BitCursor bits(rbsp_);
  Slice current;
  current.nal = &nal;
  current.header = sets_.slice_header(bits, nal, current.sets);
  current.data_begin = bits.position();
  current.stop = stop_bit_position(payload);
  slice_bits_ += current.stop;
  const std::string where = "picture " + std::to_string(total_pictures_);
  if (current.header.first_mb != next_mb_) {
    throw Error(ErrorCode::bad_input, where + ": a slice is missing, doubled or out of order",
                "the stream must be whole, its slices in order");
  }
  if (!in_picture_) {
    picture_begin_ = out.size();
    append(out, begin_picture());
    in_picture_ = true;
  }
  current.picture = picture_;
  append(out, nal.prefix);
  const std::size_t begin = out.size();
  bool changed = false;
  try {
    changed = slice(current, rbsp_);
  } catch (const Error& error) {
    throw Error(error.code(), where + ": " + error.what());
  }
  if (changed) {
    // What cannot be escaped back to the same bytes could not be given back either.
    unescape(nal.unit, check_);
    Bytes& same = check_;
    same.resize(same.size() - kRbspPadding);
    Bytes again;
    again.reserve(nal.unit.size() + 16);
    append_escaped(again, nal.unit[0], same);
    if (!std::equal(again.begin(), again.end(), nal.unit.begin(), nal.unit.end())) {
      throw Error(ErrorCode::bad_input, where + ": needless emulation prevention bytes",
                  "the stream must be escaped as H.264 7.4.1 has it");
    }
    append_escaped(out, nal.unit[0], {rbsp_.data(), rbsp_.size() - kRbspPadding});
  } else {
    append(out, nal.unit);
  }
  written({out.data() + begin, out.size() - begin});
  if (next_mb_ < current.sets.sps.macroblocks()) return;
  const Bytes before = end_picture();
  out.insert(out.begin() + static_cast<std::ptrdiff_t>(picture_begin_), before.begin(), before.end());
  in_picture_ = false;
  next_mb_ = 0;
  ++picture_, ++total_pictures_;
}

void NalTool::parse(const Slice& slice, const Bytes& rbsp, MacroblockVisitor& visitor) {
  BitCursor bits(rbsp);
  bits.skip(slice.data_begin);
  next_mb_ = parser_.parse(bits, slice.stop, slice.sets, slice.header, visitor);
}

StreamCounts NalTool::counts() const {
  StreamCounts counts;
  counts.pictures = total_pictures_;
  counts.slice_bits = slice_bits_;
  counts.coefficients = parser_.coefficients();
  add_counts(counts);
  return counts;
}

std::vector<std::uint8_t> NalTool::finish() {
  if (in_picture_) {
    throw Error(ErrorCode::bad_input, "picture " + std::to_string(total_pictures_) + " has no end",
                "the stream is cut off");
  }
  if (total_pictures_ == 0) {
    throw Error(ErrorCode::bad_input, "there is no H.264 picture in the stream",
                "an annex B byte stream is needed");
  }
  return end_stream();
}

}  // namespace cu264::protect
