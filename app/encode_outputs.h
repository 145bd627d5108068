// Everything that an encode writes: the file, and on request the reconstruction, quality measures, statistics
// and progress.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/edges_outputs.h"
#include "app/encode_totals.h"
#include "app/options.h"
#include "cu264/encoder.h"
#include "cu264/protect.h"
#include "io/muxer.h"
#include "io/output_file.h"
#include "io/progress.h"
#include "io/statistics.h"
#include "io/video_info.h"

namespace cu264::app {

class EncodeOutputs {
 public:
  EncodeOutputs(const EncodeOptions& options, const Config& config, const EncoderInfo& encoder,
                const std::vector<std::uint8_t>& headers, const io::VideoInfo& video,
                const io::Carried& carried);

  // The source's samples are only needed if wants_source() is true.
  void picture(Packet& packet, const io::VideoPicture& source);
  // How many bytes picture() will put into its packet.
  std::int64_t added_bytes(const io::VideoPicture& source) const;
  void drop() { totals_.drop(); }  // the next picture has no packet
  void copy(io::AvPacket packet) { muxer_.copy(std::move(packet)); }
  bool wants_source() const { return options_.psnr || options_.ssim; }

  // Counts what was written so far.
  const EncodeTotals& totals() const { return totals_; }

  // Returns the number of bytes written so far that are not pictures.
  std::int64_t bytes_beside() const;

  // Completes the output. Returns its bytes.
  std::int64_t close();
  // What the container could not take, one line each; complete after close().
  std::vector<std::string> notes() const { return muxer_.notes(); }

  // Verifies and names the files, after close(). Files that were not finished are removed.
  void finish(const std::vector<std::string>& notes);

  // Returns text such as "120 frames of 640x360 in 1.5 s: 78.9 fps, 2431.2 kb/s, ...".
  std::string summary() const;

 private:
  double elapsed() const;
  void begin_statistics(const Config& config);
  void write_sealed();

  const EncodeOptions& options_;
  EncoderInfo encoder_;
  io::VideoInfo video_;
  bool controls_rate_;
  io::OutputFile file_;
  io::Muxer muxer_;
  std::unique_ptr<StreamTool> encryptor_;  // null if not wanted
  // The last access unit that left the encryptor. It waits for units that may follow it.
  struct {
    std::vector<std::uint8_t> data;
    std::int64_t pts = 0, duration = 0;
  } sealed_;
  std::optional<io::OutputFile> recon_;
  std::unique_ptr<EdgeSink> edges_;  // null if not wanted
  std::optional<io::Statistics> statistics_;
  io::Progress progress_;
  EncodeTotals totals_;
  std::vector<std::uint64_t> hashes_;  // hashes of the reconstructions, for --verify
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double encode_seconds_ = 0;
};

}  // namespace cu264::app
