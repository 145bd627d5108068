#include "bench/nvjpeg_peer.h"

#include <cuda_runtime_api.h>
#include <nvjpeg.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace cu264::bench {
namespace {

void check_jpeg(nvjpegStatus_t status, const char* what) {
  if (status == NVJPEG_STATUS_SUCCESS) return;
  throw std::runtime_error(std::string("nvJPEG, ") + what + ": status " + std::to_string(status));
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

struct Library {
  Library() { check_jpeg(nvjpegCreateSimple(&handle), "opening it"); }
  ~Library() { nvjpegDestroy(handle); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  nvjpegHandle_t handle = nullptr;
};

}  // namespace

struct NvJpeg::State {
  State(const Clip& clip, const FramePool& pool, Input input) : clip(clip), pool(pool), input(input) {
    if (input != Input::rgb) return;
    d_rgb = allocate_device(static_cast<std::size_t>(pool.size()) * rgb_bytes(), 0);
    std::vector<std::vector<std::uint8_t>> frames;
    for (const std::vector<std::uint8_t>& frame : clip.frames) frames.push_back(rgb_of(clip, frame));
    for (int i = 0; i < pool.size(); ++i) {
      check_cuda(cudaMemcpy(rgb_frame(static_cast<std::uint64_t>(i)),
                            frames[static_cast<std::size_t>(i) % frames.size()].data(), rgb_bytes(),
                            cudaMemcpyHostToDevice),
                 "uploading the frames");
    }
  }

  std::size_t rgb_bytes() const { return 3 * clip.luma_bytes(); }
  std::uint8_t* rgb_frame(std::uint64_t i) const {
    return static_cast<std::uint8_t*>(d_rgb.get()) +
           i % static_cast<std::uint64_t>(pool.size()) * rgb_bytes();
  }
  nvjpegImage_t image(std::uint64_t i) const {
    nvjpegImage_t image{};
    if (input == Input::rgb) {
      image.channel[0] = rgb_frame(i);
      image.pitch[0] = 3 * static_cast<std::size_t>(clip.width);
      return image;
    }
    const Frame frame = pool.frame(i);
    for (int plane = 0; plane < 3; ++plane) {
      image.channel[plane] = const_cast<std::uint8_t*>(frame.plane[plane]);
      image.pitch[plane] = static_cast<std::size_t>(frame.pitch[plane]);
    }
    return image;
  }

  const Clip& clip;
  const FramePool& pool;
  const Input input;
  const Library nvjpeg;
  DeviceAllocation d_rgb;
};

namespace {

struct File {
  const unsigned char* data;
  std::size_t size;
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

  // The file, in memory that the next call uses again.
  File encode(const nvjpegImage_t& image, bool rgb, int width, int height) {
    check_jpeg(
        rgb ? nvjpegEncodeImage(handle_, state_, params_, &image, NVJPEG_INPUT_RGBI, width, height,
                                stream_.get())
            : nvjpegEncodeYUV(handle_, state_, params_, &image, NVJPEG_CSS_420, width, height, stream_.get()),
        "encoding");
    std::size_t size = 0;
    check_jpeg(nvjpegEncodeRetrieveBitstream(handle_, state_, nullptr, &size, stream_.get()), "sizing");
    if (size > capacity_) {
      capacity_ = 2 * size;
      file_ = allocate_pinned(capacity_);
    }
    auto* const data = static_cast<unsigned char*>(file_.get());
    check_jpeg(nvjpegEncodeRetrieveBitstream(handle_, state_, data, &size, stream_.get()), "downloading");
    check_cuda(cudaStreamSynchronize(stream_.get()), "waiting for nvJPEG");
    return {data, size};
  }

 private:
  nvjpegHandle_t handle_;
  Stream stream_;
  nvjpegEncoderState_t state_ = nullptr;
  nvjpegEncoderParams_t params_ = nullptr;
  PinnedAllocation file_;
  std::size_t capacity_ = 0;
};

// Of `streams` threads that begin together: the sum of the frames a second of each. `make(t)` gives thread t
// what encodes a frame.
template <class Make>
double rate_of_threads(int streams, double seconds, const Make& make) {
  constexpr int kWarmUp = 20;
  std::atomic<int> warm{0};
  std::vector<double> rates(static_cast<std::size_t>(streams));
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(streams));
  std::vector<std::thread> threads;
  for (int t = 0; t < streams; ++t) {
    threads.emplace_back([&, t] {
      bool counted = false;
      try {
        auto encode = make(t);
        for (int i = 0; i < kWarmUp; ++i) encode();
        warm += 1, counted = true;
        while (warm < streams) std::this_thread::yield();
        const StopWatch watch;
        int frames = 0;
        for (; watch.seconds() < seconds; ++frames) encode();
        rates[static_cast<std::size_t>(t)] = frames / watch.seconds();
      } catch (...) {
        if (!counted) warm += 1;
        failures[static_cast<std::size_t>(t)] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
  double sum = 0;
  for (const double rate : rates) sum += rate;
  return sum;
}

}  // namespace

NvJpeg::NvJpeg(const Clip& clip, const FramePool& pool, Input input)
    : state_(std::make_unique<State>(clip, pool, input)) {}

NvJpeg::~NvJpeg() = default;

double NvJpeg::rate(int quality, int streams, bool quick) const {
  constexpr int kRepeats = 3;
  const State& state = *state_;
  // Stream t takes the frames t, t + streams, and so on.
  const auto make = [&](int t) {
    return [&state, i = static_cast<std::uint64_t>(t), step = static_cast<std::uint64_t>(streams),
            encoder = std::make_unique<JpegEncoder>(state.nvjpeg.handle, quality)]() mutable {
      encoder->encode(state.image(i), state.input == Input::rgb, state.clip.width, state.clip.height);
      i += step;
    };
  };
  std::vector<double> rates;
  for (int repeat = 0; repeat < kRepeats; ++repeat)
    rates.push_back(rate_of_threads(streams, quick ? 0.1 : 1, make));
  return median(std::move(rates));
}

NvJpeg::Point NvJpeg::first_frame(int quality) const {
  const Clip& clip = state_->clip;
  JpegEncoder encoder(state_->nvjpeg.handle, quality);
  const File file = encoder.encode(state_->image(0), state_->input == Input::rgb, clip.width, clip.height);
  const DeviceAllocation d_luma = allocate_device(clip.luma_bytes(), 0);
  nvjpegImage_t image{};
  image.channel[0] = static_cast<unsigned char*>(d_luma.get());
  image.pitch[0] = static_cast<std::size_t>(clip.width);
  nvjpegJpegState_t decoder = nullptr;
  check_jpeg(nvjpegJpegStateCreate(state_->nvjpeg.handle, &decoder), "making a decoder");
  const nvjpegStatus_t status =
      nvjpegDecode(state_->nvjpeg.handle, decoder, file.data, file.size, NVJPEG_OUTPUT_Y, &image, nullptr);
  std::vector<std::uint8_t> luma(clip.luma_bytes());
  const cudaError_t copied = cudaMemcpy(luma.data(), d_luma.get(), luma.size(), cudaMemcpyDeviceToHost);
  nvjpegJpegStateDestroy(decoder);
  check_jpeg(status, "decoding");
  check_cuda(copied, "downloading the luma samples");
  return {psnr(luma.data(), clip.frames[0].data(), luma.size()), static_cast<double>(file.size)};
}

}  // namespace cu264::bench
