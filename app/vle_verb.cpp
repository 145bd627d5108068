// cu264 vle: compresses and expands files and pipes.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "app/interrupt.h"
#include "app/verbs.h"
#include "app/vle_options.h"
#include "cu264/status.h"
#include "cu264/vle.h"
#include "io/input_file.h"
#include "io/output_file.h"
#include "io/progress.h"

namespace cu264::app {
namespace {

using Clock = std::chrono::steady_clock;

// For inputs below this size, starting a device takes longer than it saves.
constexpr std::uint64_t kSmallInput = std::uint64_t{64} << 20;

constexpr double kMega = 1e6;

double seconds_since(Clock::time_point start) {
  return std::max(1e-9, std::chrono::duration<double>(Clock::now() - start).count());
}

// The bytes that were read and written so far.
struct Sides {
  std::uint64_t read, written;
};
Sides sides_of(const vle::StreamTotals& totals, bool expand) {
  return expand ? Sides{totals.container, totals.original} : Sides{totals.original, totals.container};
}

// Returns text such as "[ 42.0%] 420.0/1000.0 MB, 2100.3 MB/s, eta 0:00:18".
std::string progress_text(std::uint64_t read, std::optional<std::uint64_t> size, double seconds) {
  char text[128];
  const double rate = static_cast<double>(read) / seconds;
  if (!size || *size == 0) {
    std::snprintf(text, sizeof text, "%.1f MB, %.1f MB/s", read / kMega, rate / kMega);
    return text;
  }
  const double whole = static_cast<double>(*size), done = std::min(static_cast<double>(read), whole);
  const auto left = static_cast<long long>((whole - done) / std::max(rate, 1.0) + 0.5);
  std::snprintf(text, sizeof text, "[%5.1f%%] %.1f/%.1f MB, %.1f MB/s, eta %lld:%02lld:%02lld",
                100 * done / whole, done / kMega, whole / kMega, rate / kMega, left / 3600, left / 60 % 60,
                left % 60);
  return text;
}

std::string summary_of(const vle::StreamReport& report, const VleOptions& options, double seconds) {
  const Sides sides = sides_of(report.totals, options.expand);
  const auto original = static_cast<double>(report.totals.original);
  char share[64] = "the original is empty";
  if (original > 0) {
    const double percent = 100 * static_cast<double>(report.totals.container) / original;
    std::snprintf(share, sizeof share, "%.2f%% of the original", percent);
  }
  char text[256];
  std::snprintf(text, sizeof text, "%s %.1f MB to %.1f MB (%s) in %.2f s, %.1f MB/s, ",
                options.expand ? "expanded" : "compressed", sides.read / kMega, sides.written / kMega, share,
                seconds, original / seconds / kMega);
  return text + report.backend + ": " + report.reason;
}

// With `auto`, no device is started for work that one core does in the same time.
BackendChoice backend_for(const VleOptions& options, std::optional<std::uint64_t> size) {
  const bool small = size && *size < kSmallInput;
  return options.backend == BackendChoice::automatic && small ? BackendChoice::cpu : options.backend;
}

vle::StreamReport run(const VleOptions& options) {
  io::InputFile input(options.input);
  check_overwrite(options.output, options.overwrite);
  io::OutputFile output(options.output);
  io::Progress progress(options.progress);
  const Clock::time_point start = Clock::now();

  vle::StreamOptions stream;
  stream.backend = backend_for(options, input.size());
  stream.threads = options.threads;
  stream.progress = [&](const vle::StreamTotals& totals) {
    if (interrupted()) throw Interrupted();
    progress.show([&] {
      return progress_text(sides_of(totals, options.expand).read, input.size(), seconds_since(start));
    });
  };
  const vle::Source source = [&](std::span<std::uint8_t> memory) {
    const std::size_t size = input.read(memory, interrupted);
    if (interrupted()) throw Interrupted();
    return size;
  };
  const vle::Sink sink = [&](std::span<const std::uint8_t> bytes) {
    output.write(bytes.data(), bytes.size());
  };
  vle::StreamReport report;
  try {
    report = options.expand ? vle::expand(source, sink, stream) : vle::compress(source, sink, stream);
  } catch (const Error& error) {
    // The library does not know the file name of a damaged container, so it is added here.
    const bool named = std::string_view(error.what()).starts_with(input.name());
    if (error.code() != ErrorCode::bad_input || named) throw;
    throw Error(error.code(), input.name() + ": " + error.what());
  }
  output.commit();
  progress.clear();
  if (stream.backend != options.backend)
    report.reason = "below 64 MiB, starting a device takes longer than it saves";
  if (!options.quiet) {
    std::fprintf(stderr, "cu264: %s\n", summary_of(report, options, seconds_since(start)).c_str());
  }
  return report;
}

}  // namespace

ExitCode vle_verb(const std::vector<std::string>& arguments) {
  const std::optional<VleOptions> options = parse_vle_options(arguments);
  if (!options) {
    std::fputs(help_text(vle_help()).c_str(), stdout);
    return ExitCode::done;
  }
  catch_signals();
  run(*options);
  return ExitCode::done;
}

}  // namespace cu264::app
