// A pipeline of three steps: segments are read in order, coded in any order, and written in order.
#include "entropy/vle/stream_coder.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <tbb/parallel_pipeline.h>
#include <tbb/task_arena.h>

#include "cu264/status.h"
#include "entropy/vle/thread_count.h"

namespace cu264::vle {
namespace {

using Bytes = std::span<const std::uint8_t>;
using Memory = std::span<std::uint8_t>;

struct Job {
  SegmentSlot* slot = nullptr;
  RecordHeader header;
  Bytes input;   // lies in slot->from
  Bytes output;  // lies in slot->to
};

// A few more slots than segments are coded at a time, for those that are being read or written.
std::size_t slots_for(int concurrency) {
  return static_cast<std::size_t>(concurrency) + 2;
}

// `read` makes the next job, or returns false if there is none; `code` sets its output. Jobs leave in order,
// so that the last job has left a slot before the slot's turn comes again.
template <typename Read, typename Code, typename Write>
void run(SegmentSlots& slots, const Read& read, const Code& code, const Write& write) {
  const auto next = [&](tbb::flow_control& control) {
    Job job;
    if (!read(job)) control.stop();
    return job;
  };
  const auto code_alone = [&](Job job) {
    // A thread that waits for the tasks of its segment must not take up another segment or a read.
    tbb::this_task_arena::isolate([&] { code(job); });
    return job;
  };
  tbb::parallel_pipeline(slots.size(),
                         tbb::make_filter<void, Job>(tbb::filter_mode::serial_in_order, next) &
                             tbb::make_filter<Job, Job>(tbb::filter_mode::parallel, code_alone) &
                             tbb::make_filter<Job, void>(tbb::filter_mode::serial_in_order, write));
}

// Runs the work in an arena with the coders that it needs.
template <typename Work>
StreamReport in_arena(const StreamOptions& options, const Work& work) {
  const int threads = usable_threads(options.threads);
  tbb::task_arena arena(threads);
  StreamReport report;
  arena.execute([&] {
    SegmentSlots slots(options, slots_for(threads));
    report.backend = slots.backend(), report.reason = slots.reason();
    work(slots, report.totals);
  });
  return report;
}

// The contents of a container's end record, which grow with each segment.
struct Tally {
  StreamTotals& totals;
  std::uint32_t checksum = 0;

  void add(const RecordHeader& header) {
    totals.original += header.size;
    totals.container += kRecordHeaderSize + header.body_size();
    checksum = add_checksum(checksum, header.checksum);
  }
};

void put_signature(const Sink& sink, StreamTotals& totals) {
  std::array<std::uint8_t, kSignatureSize> bytes;
  write_signature(bytes);
  sink(bytes);
  totals.container += bytes.size();
}

void put_end(const Sink& sink, StreamTotals& totals, std::uint32_t checksum) {
  std::array<std::uint8_t, kRecordHeaderSize> bytes;
  RecordHeader end;
  end.position = totals.original;
  end.checksum = checksum;
  write_header(end, bytes);
  sink(bytes);
  totals.container += bytes.size();
}

void compress_with(SegmentSlots& slots, const Source& source, const Sink& sink, const StreamOptions& options,
                   StreamTotals& totals) {
  put_signature(sink, totals);
  std::uint64_t position = 0;
  bool at_end = false;
  const auto read = [&](Job& job) {
    if (at_end) return false;
    job.slot = &slots.next();
    const Memory memory = job.slot->take_from(kSegmentSize);
    const std::size_t size = source(memory);
    at_end = size < memory.size();
    job.header.position = position, position += size;
    job.input = memory.first(size);
    return size > 0;
  };
  const auto code = [](Job& job) {
    const Memory record = job.slot->take_to(kRecordHeaderSize + job.input.size());
    const SegmentPlan plan = job.slot->coder->encode(job.input, job.header.position, record);
    job.header = plan.header, job.output = record.first(plan.record_size());
  };
  Tally tally{totals};
  const auto write = [&](const Job& job) {
    sink(job.output);
    tally.add(job.header);
    if (options.progress) options.progress(totals);
  };
  run(slots, read, code, write);
  put_end(sink, totals, tally.checksum);
}

// Fills `memory` from the source, or throws.
void get(const Source& source, Memory memory, std::uint64_t position) {
  if (source(memory) == memory.size()) return;
  throw Error(ErrorCode::bad_input,
              "the file ends too early, after byte " + std::to_string(position) + " of the original",
              "it is cut off: copy or download it again");
}

void get_signature(const Source& source, StreamTotals& totals) {
  std::array<std::uint8_t, kSignatureSize> bytes{};
  const std::size_t size = source(bytes);
  if (size > 0) parse_signature(bytes);
  if (size < bytes.size())
    throw Error(ErrorCode::bad_input, "the file is empty", "it is not a cu264 vle file");
  totals.container += size;
}

void check_end(const RecordHeader& end, std::uint32_t checksum, const Source& source) {
  if (end.checksum != checksum) {
    throw Error(ErrorCode::bad_input, "the end record does not match the segments", "the file is damaged");
  }
  std::array<std::uint8_t, 1> after;
  if (source(after) != 0) {
    throw Error(ErrorCode::bad_input, "there are bytes after the end record", "the file is damaged");
  }
}

void expand_with(SegmentSlots& slots, const Source& source, const Sink& sink, const StreamOptions& options,
                 StreamTotals& totals) {
  get_signature(source, totals);
  std::uint64_t position = 0;
  std::uint32_t checksum = 0;
  std::optional<RecordHeader> end;
  const auto read = [&](Job& job) {
    std::array<std::uint8_t, kRecordHeaderSize> bytes;
    get(source, bytes, position);
    job.header = parse_header(bytes, position);
    if (job.header.kind == RecordKind::end) {
      check_end(job.header, checksum, source);
      end = job.header;
      return false;
    }
    job.slot = &slots.next();
    const Memory body = job.slot->take_from(job.header.body_size());
    get(source, body, position);
    job.input = body;
    position += job.header.size;
    checksum = add_checksum(checksum, job.header.checksum);
    return true;
  };
  const auto code = [](Job& job) {
    const Memory original = job.slot->take_to(job.header.size);
    job.slot->coder->decode(job.header, job.input, original);
    job.output = original;
  };
  Tally tally{totals};
  const auto write = [&](const Job& job) {
    sink(job.output);
    tally.add(job.header);
    if (options.progress) options.progress(totals);
  };
  run(slots, read, code, write);
  totals.container += kRecordHeaderSize;
}

// The source and the sink of a call from memory to memory.
template <typename Function>
std::vector<std::uint8_t> in_memory(Bytes input, const StreamOptions& options, const Function& function) {
  std::vector<std::uint8_t> output;
  const Source source = [&](Memory memory) {
    const std::size_t size = std::min(memory.size(), input.size());
    std::copy_n(input.begin(), size, memory.begin());
    input = input.subspan(size);
    return size;
  };
  const Sink sink = [&](Bytes bytes) { output.insert(output.end(), bytes.begin(), bytes.end()); };
  function(source, sink, options);
  return output;
}

}  // namespace

StreamReport compress(const Source& source, const Sink& sink, const StreamOptions& options) {
  return in_arena(options, [&](SegmentSlots& slots, StreamTotals& totals) {
    compress_with(slots, source, sink, options, totals);
  });
}

StreamReport expand(const Source& source, const Sink& sink, const StreamOptions& options) {
  return in_arena(options, [&](SegmentSlots& slots, StreamTotals& totals) {
    expand_with(slots, source, sink, options, totals);
  });
}

std::vector<std::uint8_t> compress(Bytes input, const StreamOptions& options) {
  return in_memory(input, options,
                   [](const auto&... arguments) { static_cast<void>(compress(arguments...)); });
}

std::vector<std::uint8_t> expand(Bytes container, const StreamOptions& options) {
  return in_memory(container, options,
                   [](const auto&... arguments) { static_cast<void>(expand(arguments...)); });
}

}  // namespace cu264::vle
