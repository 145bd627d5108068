#include "protect/nal_tool.h"

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <limits>
#include <string>

#include "common/bitstream/emulation_prevention.h"
#include "cu264/status.h"

namespace cu264 {

StreamTool::~StreamTool() = default;

StreamResult run_tool(StreamTool& tool, std::span<const std::uint8_t> stream) {
  StreamResult result;
  result.stream = tool.access_units(stream);
  const std::vector<std::uint8_t> last = tool.last_units();
  result.stream.insert(result.stream.end(), last.begin(), last.end());
  result.payload = tool.finish();
  return result;
}

}  // namespace cu264

namespace cu264::protect {
namespace {

void append(Bytes& out, ByteSpan bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

// At least doubles what a full one has, so that many small additions copy each byte only a few times.
void make_room(Bytes& out, std::size_t bytes) {
  if (out.capacity() - out.size() < bytes) out.reserve(std::max(out.size() + bytes, 2 * out.size()));
}

void refuse_unit_type(int type) {
  if (type >= bitstream::kNalPartitionA && type <= bitstream::kNalPartitionC) {
    throw Error(ErrorCode::bad_input, "the stream has data partitioning",
                "only whole slices can be worked on");
  }
  if (type == bitstream::kNalAuxiliarySlice) {
    throw Error(ErrorCode::bad_input, "the stream has auxiliary pictures",
                "only primary pictures can be worked on");
  }
  if (type == bitstream::kNalSliceExtension || type == bitstream::kNalDepthSliceExtension) {
    throw Error(ErrorCode::bad_input, "the stream has scalable or multiview layers",
                "only single-layer streams can be worked on");
  }
}

}  // namespace

std::uint32_t next_picture_number(std::uint32_t picture) {
  if (picture == std::numeric_limits<std::uint32_t>::max()) {
    throw Error(ErrorCode::bad_input, "the stream has more than 4294967296 pictures",
                "their keystream would repeat: work on parts of it");
  }
  return picture + 1;
}

void SliceJob::parse(MacroblockVisitor& visitor) {
  bitstream::RbspReader bits(rbsp);
  bits.skip(slice.data_begin);
  next_address_ = parser_.parse(bits, slice.stop, slice.sets, slice.header, visitor);
  coefficients_ = parser_.coefficients();
}

void SliceJob::change_levels(LevelFlips& flips) {
  const ReadSlice read =
      protect::change_levels(rbsp, slice.data_begin, slice.stop, slice.sets, slice.header, flips);
  next_address_ = read.next_address;
  coefficients_ = read.coefficients;
  suffix_bits_ = read.suffix_bits;
}

void NalTool::check_cabac() const {
  throw Error(ErrorCode::bad_input, "the stream has CABAC entropy coding",
              "watermarks and hidden data need CAVLC, whose trailing ones and level suffixes carry them: "
              "encode it with cavlc, or mark it while encoding");
}

void NalTool::read_sets(const bitstream::NalUnit& nal) {
  sets_.read(nal);
  if (sets_.have_cabac()) check_cabac();
}

void NalTool::set_threads(int threads) {
  if (threads < 0) throw Error(ErrorCode::invalid_argument, "a number of threads is needed", "0 or more");
  threads_ = threads != 0 ? threads : tbb::this_task_arena::max_concurrency();
}

void NalTool::restart_pictures() {
  jobs_.clear();
  picture_ = next_picture_ = 0;
}

void NalTool::parameter_sets(std::span<const std::uint8_t> stream) {
  append(outside_sets_, stream);
}

std::vector<std::uint8_t> NalTool::access_units(std::span<const std::uint8_t> stream) {
  if (!outside_sets_.empty()) {
    bitstream::NalUnits outside{bitstream::split_annexb(outside_sets_).units, {}};
    // Messages among the parameter sets are not part of the stream.
    std::erase_if(outside.units, [](const bitstream::NalUnit& nal) {
      return nal.type() != bitstream::kNalSps && nal.type() != bitstream::kNalPps;
    });
    inspect_outside(outside);
    for (const bitstream::NalUnit& nal : outside.units) {
      read_sets(nal);
      written(nal);
    }
    outside_sets_.clear();
  }
  const bitstream::NalUnits found = bitstream::split_annexb(stream);
  inspect(found);
  Bytes out = std::move(held_);
  held_.clear();
  whole_end_ = 0;
  next_begin_.reset();
  make_room(out, stream.size() + stream.size() / 64 + 256);
  try {
    for (const bitstream::NalUnit& nal : found.units) {
      refuse_unit_type(nal.type());
      if (nal.type() == bitstream::kNalSlice || nal.type() == bitstream::kNalSliceIdr) {
        slice_unit(nal, out);
      } else {
        any_unit(nal, out);
      }
    }
  } catch (const Error&) {
    finish_jobs(out);  // an earlier slice's error comes first
    throw;
  }
  finish_jobs(out);
  append(out, found.tail);
  if (in_picture_) {
    // The tool may have to put something before that picture's first slice.
    hold(out, whole_end_);
  } else if (returns_whole_units()) {
    hold(out, whole_end_ == 0 ? 0 : next_begin_.value_or(out.size()));
  }
  return out;
}

// This part of the output waits for the call that completes the next picture.
void NalTool::hold(Bytes& out, std::size_t from) {
  // If all of it waits, it is not copied, because a picture may come in any number of calls.
  if (from == 0) return held_.swap(out);
  const auto begin = out.begin() + static_cast<std::ptrdiff_t>(from);
  held_.assign(begin, out.end());
  out.erase(begin, out.end());
  picture_begin_ -= from;
}

void NalTool::any_unit(const bitstream::NalUnit& nal, Bytes& out) {
  read_sets(nal);
  const std::optional<Message> found = read_message(nal);
  if (found) finish_jobs(out);
  if (found && message(*found)) {
    // The unit's own start code has four bytes; what lies before that belongs to the stream.
    const std::size_t own = nal.prefix.size() < 4 ? nal.prefix.size() : 4;
    return append(out, nal.prefix.first(nal.prefix.size() - own));
  }
  if (waiting_ != 0) {
    jobs_[waiting_ - 1]->following_.push_back(&nal);
  } else {
    put(nal, out);
  }
}

void NalTool::put(const bitstream::NalUnit& nal, Bytes& out) {
  if (!next_begin_ && bitstream::begins_access_unit(nal)) next_begin_ = out.size();
  append(out, nal.prefix);
  append(out, nal.unit);
  written(nal);
}

void NalTool::slice_unit(const bitstream::NalUnit& nal, Bytes& out) {
  // Each thread has several slices, so that none waits for another's last one.
  if (waiting_ == (threads_ == 1 ? 1 : 4 * static_cast<std::size_t>(threads_))) finish_jobs(out);
  if (waiting_ == jobs_.size()) jobs_.push_back(make_job());
  SliceJob& job = *jobs_[waiting_];
  bitstream::unescape(nal.unit, job.rbsp);
  bitstream::RbspReader bits(job.rbsp);
  Slice& current = job.slice;
  current.nal = &nal;
  current.header = sets_.slice_header(bits, nal, current.sets);
  current.data_begin = bits.position();
  current.stop = bitstream::stop_bit_position(bitstream::without_padding(job.rbsp));
  if (current.header.first_mb == 0 && picture_has_slices_) next_picture_ = next_picture_number(next_picture_);
  picture_has_slices_ = true;
  current.picture = next_picture_;
  ++waiting_;
}

void NalTool::run_jobs() {
  const auto run = [this](std::size_t index) {
    SliceJob& job = *jobs_[index];
    job.failure_ = nullptr;
    try {
      // A unit that is not escaped back to the same bytes could not be restored either.
      job.escaped_.clear();
      bitstream::append_escaped_with_end(job.escaped_, job.slice.nal->unit[0],
                                         bitstream::without_padding(job.rbsp));
      job.escaped_as_it_was_ = std::equal(job.escaped_.begin(), job.escaped_.end(),
                                          job.slice.nal->unit.begin(), job.slice.nal->unit.end());
      job.run();
    } catch (...) {
      job.failure_ = std::current_exception();
    }
  };
  if (waiting_ == 1) return run(0);
  tbb::task_arena arena(std::min(threads_, tbb::this_task_arena::max_concurrency()));
  arena.execute([&] { tbb::parallel_for(std::size_t{0}, waiting_, run); });
}

void NalTool::finish_jobs(Bytes& out) {
  if (waiting_ == 0) return;
  run_jobs();
  const std::size_t count = waiting_;
  waiting_ = 0;
  for (std::size_t i = 0; i < count; ++i) finish_job(*jobs_[i], out);
  next_picture_ = picture_;
  picture_has_slices_ = in_picture_;
}

void NalTool::finish_job(SliceJob& job, Bytes& out) {
  const Slice& current = job.slice;
  slice_bits_ += current.stop;
  const auto where = [this] { return "picture " + std::to_string(total_pictures_); };
  if (current.header.first_mb != next_mb_) {
    throw Error(ErrorCode::bad_input, where() + ": a slice is missing, repeated or out of order",
                "the stream must be whole, its slices in order");
  }
  if (!in_picture_) {
    append(out, begin_picture());
    picture_begin_ = out.size();
    in_picture_ = true;
  }
  append(out, current.nal->prefix);
  const std::size_t begin = out.size();
  bool changed = false;
  try {
    if (job.failure_) std::rethrow_exception(job.failure_);
    changed = job.finish();
  } catch (const Error& error) {
    throw Error(error.code(), where() + ": " + error.what());
  }
  coefficients_ += job.coefficients_;
  next_mb_ = job.next_address();
  if (changed) {
    if (!job.escaped_as_it_was_) {
      throw Error(ErrorCode::bad_input, where() + ": it has needless emulation prevention bytes",
                  "the stream must be escaped as H.264 7.4.1 requires");
    }
    bitstream::append_escaped_with_end(out, current.nal->unit[0], bitstream::without_padding(job.rbsp));
  } else {
    append(out, current.nal->unit);
  }
  written(current, {out.data() + begin, out.size() - begin});
  if (next_mb_ >= current.sets.sps.macroblocks()) {
    const Bytes before = end_picture();
    out.insert(out.begin() + static_cast<std::ptrdiff_t>(picture_begin_), before.begin(), before.end());
    in_picture_ = false;
    next_begin_.reset();
    next_mb_ = 0;
    whole_end_ = out.size();
    picture_ = next_picture_number(picture_);
    ++total_pictures_;
  }
  for (const bitstream::NalUnit* nal : job.following_) put(*nal, out);
  job.following_.clear();
}

StreamCounts NalTool::counts() const {
  StreamCounts counts;
  counts.pictures = total_pictures_;
  counts.slice_bits = slice_bits_;
  counts.coefficients = coefficients_;
  add_counts(counts);
  return counts;
}

std::vector<std::uint8_t> NalTool::finish() {
  if (in_picture_) {
    throw Error(ErrorCode::bad_input, "picture " + std::to_string(total_pictures_) + " is incomplete",
                "the stream is cut off");
  }
  if (total_pictures_ == 0) {
    throw Error(ErrorCode::bad_input, "there is no H.264 picture in the stream",
                "an annex B byte stream is needed");
  }
  return end_stream();
}

}  // namespace cu264::protect
