// nvJPEG beside the encoder, on the same frames: frames a second and bytes, and the bytes that both take for
// the same luma PSNR. The clip's samples are taken as JFIF's, full range, so that nothing is converted on the
// way of the 4:2:0 input; the RGB input is made of them on the host, before the clock starts.
//
//   bench_nvjpeg [--json FILE] [--quick] CLIP.yuv WIDTHxHEIGHT [CLIP.yuv WIDTHxHEIGHT ...]
#include <cuda_runtime_api.h>
#include <nvjpeg.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/gpu_bench.h"
#include "cu264/encoder.h"

namespace cu264::bench {
namespace {

using encoder::cuda::check;

constexpr int kQualities[] = {75, 90};

void check_jpeg(nvjpegStatus_t status, const char* what) {
  if (status == NVJPEG_STATUS_SUCCESS) return;
  throw std::runtime_error(std::string(what) + ": nvJPEG's status " + std::to_string(status));
}

// Interleaved RGB of an I420 frame by JFIF's equations, chroma repeated.
std::vector<std::uint8_t> rgb_of(const Clip& clip, const std::vector<std::uint8_t>& frame) {
  const std::size_t width = static_cast<std::size_t>(clip.width), luma = clip.luma_bytes();
  std::vector<std::uint8_t> rgb(3 * luma);
  const auto sample = [](double value) {
    return static_cast<std::uint8_t>(std::clamp(std::lround(value), 0L, 255L));
  };
  for (std::size_t i = 0; i < luma; ++i) {
    const std::size_t chroma = luma + i / width / 2 * (width / 2) + i % width / 2;
    const double y = frame[i], cb = frame[chroma] - 128.0, cr = frame[chroma + luma / 4] - 128.0;
    rgb[3 * i] = sample(y + 1.402 * cr);
    rgb[3 * i + 1] = sample(y - 0.344136 * cb - 0.714136 * cr);
    rgb[3 * i + 2] = sample(y + 1.772 * cb);
  }
  return rgb;
}

// The clip's frames over and over on the device, as nvJPEG takes them.
class JpegPool {
 public:
  JpegPool(const Clip& clip, bool rgb) : clip_(clip), rgb_(rgb), yuv_(clip, MemoryKind::device) {
    if (!rgb) return;
    d_rgb_ = encoder::cuda::allocate_device(static_cast<std::size_t>(yuv_.size()) * rgb_bytes(), 0);
    std::vector<std::vector<std::uint8_t>> frames;
    for (const std::vector<std::uint8_t>& frame : clip.frames) frames.push_back(rgb_of(clip, frame));
    for (int i = 0; i < yuv_.size(); ++i) {
      check(cudaMemcpy(rgb_frame(static_cast<std::size_t>(i)),
                       frames[static_cast<std::size_t>(i) % frames.size()].data(), rgb_bytes(),
                       cudaMemcpyHostToDevice),
            "uploading the frames");
    }
  }

  const Clip& clip() const { return clip_; }
  bool rgb() const { return rgb_; }
  nvjpegImage_t image(std::uint64_t i) const {
    nvjpegImage_t image{};
    if (rgb_) {
      image.channel[0] = rgb_frame(static_cast<std::size_t>(i) % static_cast<std::size_t>(yuv_.size()));
      image.pitch[0] = 3 * static_cast<std::size_t>(clip_.width);
      return image;
    }
    const Frame frame = yuv_.frame(i);
    for (int plane = 0; plane < 3; ++plane) {
      image.channel[plane] = const_cast<std::uint8_t*>(frame.plane[plane]);
      image.pitch[plane] = static_cast<std::size_t>(frame.pitch[plane]);
    }
    return image;
  }

 private:
  std::size_t rgb_bytes() const { return 3 * clip_.luma_bytes(); }
  std::uint8_t* rgb_frame(std::size_t i) const {
    return static_cast<std::uint8_t*>(d_rgb_.get()) + i * rgb_bytes();
  }

  const Clip& clip_;
  const bool rgb_;
  const FramePool yuv_;
  encoder::cuda::DeviceAllocation d_rgb_;
};

// One image at a time on a stream of its own.
class JpegEncoder {
 public:
  JpegEncoder(nvjpegHandle_t handle, int quality) : handle_(handle) {
    check_jpeg(nvjpegEncoderStateCreate(handle, &state_, stream_.get()), "making an encoder");
    check_jpeg(nvjpegEncoderParamsCreate(handle, &params_, stream_.get()), "making its parameters");
    check_jpeg(nvjpegEncoderParamsSetQuality(params_, quality, stream_.get()), "setting the quality");
    check_jpeg(nvjpegEncoderParamsSetSamplingFactors(params_, NVJPEG_CSS_420, stream_.get()),
               "setting 4:2:0");
  }
  ~JpegEncoder() {
    nvjpegEncoderParamsDestroy(params_);
    nvjpegEncoderStateDestroy(state_);
  }
  JpegEncoder(const JpegEncoder&) = delete;
  JpegEncoder& operator=(const JpegEncoder&) = delete;

  // The file, in memory that is reused.
  const std::vector<std::uint8_t>& encode(const JpegPool& pool, std::uint64_t i) {
    const nvjpegImage_t image = pool.image(i);
    const int width = pool.clip().width, height = pool.clip().height;
    check_jpeg(pool.rgb() ? nvjpegEncodeImage(handle_, state_, params_, &image, NVJPEG_INPUT_RGBI, width,
                                              height, stream_.get())
                          : nvjpegEncodeYUV(handle_, state_, params_, &image, NVJPEG_CSS_420, width, height,
                                            stream_.get()),
               "encoding");
    std::size_t size = 0;
    check_jpeg(nvjpegEncodeRetrieveBitstream(handle_, state_, nullptr, &size, stream_.get()), "sizing");
    file_.resize(size);
    check_jpeg(nvjpegEncodeRetrieveBitstream(handle_, state_, file_.data(), &size, stream_.get()),
               "downloading");
    check(cudaStreamSynchronize(stream_.get()), "waiting for nvJPEG");
    return file_;
  }

 private:
  nvjpegHandle_t handle_;
  encoder::cuda::Stream stream_;
  nvjpegEncoderState_t state_ = nullptr;
  nvjpegEncoderParams_t params_ = nullptr;
  std::vector<std::uint8_t> file_;
};

// Frames a second of so many streams, each fed by a thread of its own; median of three.
double jpeg_rate(nvjpegHandle_t handle, const JpegPool& pool, int quality, int streams, bool quick) {
  constexpr int kRepeats = 3, kWarmUp = 20;
  const double seconds = quick ? 0.1 : 1;
  std::vector<double> rates;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    std::atomic<int> warm{0};
    std::atomic<double> rate{0};
    std::vector<std::exception_ptr> failures(static_cast<std::size_t>(streams));
    std::vector<std::thread> threads;
    for (int t = 0; t < streams; ++t) {
      threads.emplace_back([&, t] {
        bool counted = false;
        try {
          JpegEncoder encoder(handle, quality);
          std::uint64_t i = static_cast<std::uint64_t>(t);
          const std::uint64_t step = static_cast<std::uint64_t>(streams);
          for (int n = 0; n < kWarmUp; ++n, i += step) encoder.encode(pool, i);
          warm += 1, counted = true;
          // No thread stops its clock before the others have begun.
          while (warm < streams) std::this_thread::yield();
          const StopWatch watch;
          int frames = 0;
          for (; watch.seconds() < seconds; ++frames, i += step) encoder.encode(pool, i);
          rate.fetch_add(frames / watch.seconds());
        } catch (...) {
          if (!counted) warm += 1;
          failures[static_cast<std::size_t>(t)] = std::current_exception();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const std::exception_ptr& failure : failures)
      if (failure) std::rethrow_exception(failure);
    rates.push_back(rate);
  }
  return median(std::move(rates));
}

struct Point {
  double psnr = 0, bytes = 0;
};

// Of the clip's first frame.
Point jpeg_point(nvjpegHandle_t handle, const JpegPool& pool, int quality) {
  JpegEncoder encoder(handle, quality);
  const std::vector<std::uint8_t>& file = encoder.encode(pool, 0);
  const Clip& clip = pool.clip();
  const encoder::cuda::DeviceAllocation d_luma = encoder::cuda::allocate_device(clip.luma_bytes(), 0);
  nvjpegImage_t image{};
  image.channel[0] = static_cast<unsigned char*>(d_luma.get());
  image.pitch[0] = static_cast<std::size_t>(clip.width);
  nvjpegJpegState_t decoder = nullptr;
  check_jpeg(nvjpegJpegStateCreate(handle, &decoder), "making a decoder");
  const nvjpegStatus_t status =
      nvjpegDecode(handle, decoder, file.data(), file.size(), NVJPEG_OUTPUT_Y, &image, nullptr);
  std::vector<std::uint8_t> luma(clip.luma_bytes());
  const cudaError_t copied = cudaMemcpy(luma.data(), d_luma.get(), luma.size(), cudaMemcpyDeviceToHost);
  nvjpegJpegStateDestroy(decoder);
  check_jpeg(status, "decoding");
  check(copied, "downloading the luma samples");
  return {psnr(luma.data(), clip.frames[0].data(), luma.size()), static_cast<double>(file.size())};
}

// Of the clip's first frame, over the QPs, the best picture first.
std::vector<Point> h264_points(const Clip& clip, Preset preset) {
  const FramePool pool(clip, MemoryKind::device);
  std::vector<Point> points;
  for (int qp = 10; qp <= 46; qp += 3) {
    Config config;
    config.width = clip.width, config.height = clip.height;
    config.qp = qp;
    config.preset = preset;
    config.batch = 1;
    config.backend = BackendChoice::cuda;
    config.input_format = PixelFormat::i420;
    config.reconstruction = true;
    Encoder encoder(config);
    encoder.send(pool.frame(0));
    encoder.flush();
    const Packet packet = encoder.receive().value();
    points.push_back({psnr(packet.reconstruction.data(), clip.frames[0].data(), clip.luma_bytes()),
                      static_cast<double>(packet.data.size())});
  }
  return points;
}

// Bytes at a PSNR, log-linear between the points around it; 0 outside them.
double bytes_at(const std::vector<Point>& points, double psnr) {
  for (std::size_t i = 0; i + 1 < points.size(); ++i) {
    const Point &a = points[i], &b = points[i + 1];
    if (psnr > a.psnr || psnr < b.psnr || a.psnr == b.psnr) continue;
    const double share = (a.psnr - psnr) / (a.psnr - b.psnr);
    return std::exp((1 - share) * std::log(a.bytes) + share * std::log(b.bytes));
  }
  return 0;
}

void report_clip(nvjpegHandle_t handle, const Clip& clip, bool quick, Report& report) {
  constexpr std::pair<Preset, const char*> kPresets[] = {
      {Preset::fast, "fast"}, {Preset::balanced, "balanced"}, {Preset::best, "best"}};
  std::vector<std::vector<Point>> h264;
  for (const auto& [preset, name] : kPresets) h264.push_back(h264_points(clip, preset));
  for (const bool rgb : {true, false}) {
    const JpegPool pool(clip, rgb);
    const std::string input = rgb ? "rgb" : "yuv420";
    for (const int quality : kQualities) {
      const Point jpeg = jpeg_point(handle, pool, quality);
      for (const int streams : {1, 4, 8}) {
        report.row("nvJPEG, device to host", {{"clip", clip.name},
                                              {"input", input},
                                              {"quality", quality},
                                              {"streams", streams},
                                              {"fps", jpeg_rate(handle, pool, quality, streams, quick)},
                                              {"bytes", jpeg.bytes}});
      }
      for (std::size_t i = 0; i < h264.size(); ++i) {
        const double bytes = bytes_at(h264[i], jpeg.psnr);
        report.row("bytes at nvJPEG's luma PSNR", {{"clip", clip.name},
                                                   {"input", input},
                                                   {"quality", quality},
                                                   {"psnr", jpeg.psnr, 2},
                                                   {"nvjpeg_bytes", jpeg.bytes},
                                                   {"preset", kPresets[i].second},
                                                   {"cu264_bytes", bytes},
                                                   {"ratio", bytes / jpeg.bytes, 3}});
      }
    }
  }
}

}  // namespace
}  // namespace cu264::bench

int main(int argc, char** argv) {
  try {
    std::string json;
    bool quick = false;
    std::vector<std::string> rest;
    for (int i = 1; i < argc; ++i) {
      const std::string word = argv[i];
      if (word == "--quick") {
        quick = true;
      } else if (word == "--json" && i + 1 < argc) {
        json = argv[++i];
      } else {
        rest.push_back(word);
      }
    }
    if (rest.empty() || rest.size() % 2 != 0) {
      std::fprintf(stderr, "usage: bench_nvjpeg [--json FILE] [--quick] CLIP.yuv WIDTHxHEIGHT [...]\n");
      return 1;
    }
    cu264::bench::Report report;
    nvjpegHandle_t handle = nullptr;
    cu264::bench::check_jpeg(nvjpegCreateSimple(&handle), "opening nvJPEG");
    for (std::size_t i = 0; i < rest.size(); i += 2)
      cu264::bench::report_clip(handle, cu264::bench::read_clip(rest[i], rest[i + 1]), quick, report);
    nvjpegDestroy(handle);
    if (!json.empty()) cu264::bench::write_file(json, report.json());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_nvjpeg: %s\n", error.what());
    return 2;
  }
  return 0;
}
