// Codes segments on a GPU: runs the production encoder and decoder between pinned memory on a stream of the
// coder's own. While the device works, the host computes the checksum of the original.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string>

#include "common/cuda/error_check.h"
#include "common/cuda/handles.h"
#include "cu264/status.h"
#include "cu264/vle.h"
#include "entropy/vle/cpu_decode.h"
#include "entropy/vle/crc32c.h"
#include "entropy/vle/segment.h"

namespace cu264::vle {
namespace {

using Bytes = std::span<const std::uint8_t>;

struct FreeDevice {
  int device = 0;
  void operator()(std::uint8_t* d_memory) const { FreeDeviceMemory{device}(d_memory); }
};
using DeviceMemory = std::unique_ptr<std::uint8_t[], FreeDevice>;

DeviceMemory allocate_device(std::size_t size, int device) {
  void* d_memory = nullptr;
  if (cudaMalloc(&d_memory, size) != cudaSuccess) {
    cudaGetLastError();
    throw Error(ErrorCode::out_of_memory, "the device does not have " + std::to_string(size) + " bytes left",
                "use the cpu backend");
  }
  return DeviceMemory(static_cast<std::uint8_t*>(d_memory), FreeDevice{device});
}

HostMemory allocate_pinned(std::size_t size, int device) {
  void* memory = nullptr;
  if (cudaMallocHost(&memory, size) != cudaSuccess) {
    cudaGetLastError();
    throw Error(ErrorCode::out_of_memory, std::to_string(size) + " bytes cannot be pinned",
                "use the cpu backend");
  }
  return {static_cast<std::uint8_t*>(memory), FreePinnedMemory{device}};
}

// The small data that is transferred, in one piece of pinned memory.
struct Small {
  std::array<std::uint64_t, kSymbols> counts;
  CodeTable table;
  EncodeResult encoded;
  DecodeResult decoded;
  std::array<std::uint64_t, chunk_count(kSegmentSize)> chunk_index;
};

std::size_t scratch_for_all() {
  std::size_t counting = 0, encoding = 0, decoding = 0;
  device_histogram(nullptr, counting, nullptr, kSegmentSize, nullptr, nullptr);
  DeviceEncode encode;
  encode.size = kSegmentSize;
  device_encode(nullptr, encoding, encode, nullptr);
  DeviceDecode decode;
  const std::uint64_t some_index = 0;  // only its presence matters
  decode.size = decode.stream_size = kSegmentSize, decode.d_chunk_index = &some_index;
  device_decode(nullptr, decoding, decode, nullptr);
  return std::max({counting, encoding, decoding});
}

// Any thread may work with a coder, so each call makes the coder's device current, and then the caller's
// again.
class CudaCoder final : public SegmentCoder {
 public:
  explicit CudaCoder(int device) : device_(device) {
    try {
      check_present();
      const DeviceGuard current(device_);
      check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
      scratch_size_ = scratch_for_all();
      d_scratch_ = allocate_device(scratch_size_, device_);
      d_input_ = allocate_device(kSegmentSize, device_);
      d_output_ = allocate_device(kSegmentSize, device_);
      d_small_ = allocate_device(sizeof(Small), device_);
      small_memory_ = allocate_pinned(sizeof(Small), device_);
      small_ = reinterpret_cast<Small*>(small_memory_.get());
      // If this build has no code for the device, this call says so.
      count(0);
      finish();
    } catch (const Error& error) {
      close();
      if (error.code() == ErrorCode::out_of_memory) throw;
      throw Error(ErrorCode::device_unavailable,
                  "CUDA device " + std::to_string(device) + " cannot be used: " + error.what());
    }
  }

  ~CudaCoder() override { close(); }

  HostMemory allocate(std::size_t size) override {
    const DeviceGuard current(device_);
    return allocate_pinned(size, device_);
  }

  SegmentPlan encode(Bytes input, std::uint64_t position, std::span<std::uint8_t> record) override {
    const DeviceGuard current(device_);
    upload(d_input_.get(), input);
    count(input.size());
    download(&small_->counts, &d_small()->counts, sizeof small_->counts);
    const std::uint32_t checksum = crc32c(input);
    finish();
    SegmentPlan plan = plan_segment(small_->counts, input.size(), position);
    const std::span<std::uint8_t> body = record.subspan(kRecordHeaderSize, plan.header.body_size());
    if (plan.coded()) {
      encode_on_device(plan, input.size(), body.subspan(plan.header.tables_size));
    } else {
      std::copy(input.begin(), input.end(), body.begin());
    }
    write_front(plan, checksum, std::span(small_->chunk_index).first(chunk_count(input.size())), record);
    return plan;
  }

  void decode(const RecordHeader& header, Bytes body, std::span<std::uint8_t> output) override {
    const DeviceGuard current(device_);
    if (header.kind == RecordKind::coded) {
      decode_on_device(header, parse_tables(header, body), body.subspan(header.tables_size), output);
    } else {
      std::copy(body.begin(), body.end(), output.begin());
    }
    check_original(header, output);
  }

 private:
  Small* d_small() const { return reinterpret_cast<Small*>(d_small_.get()); }

  void check_present() const {
    int count = 0;
    check_cuda(cudaGetDeviceCount(&count), "counting the CUDA devices");
    if (device_ >= 0 && device_ < count) return;
    throw Error(ErrorCode::device_unavailable, "there are " + std::to_string(count));
  }

  void finish() const { check_cuda(cudaStreamSynchronize(stream_), "a segment's work on the device"); }

  void close() {
    if (stream_ == nullptr) return;
    const DeviceGuard current(device_, std::nothrow);
    cudaStreamSynchronize(stream_);
    cudaStreamDestroy(stream_);
  }

  void upload(void* d_to, Bytes from) const {
    check_cuda(cudaMemcpyAsync(d_to, from.data(), from.size(), cudaMemcpyHostToDevice, stream_), "upload");
  }

  void download(void* to, const void* d_from, std::size_t size) const {
    check_cuda(cudaMemcpyAsync(to, d_from, size, cudaMemcpyDeviceToHost, stream_), "download");
  }

  void count(std::size_t size) {
    device_histogram(d_scratch_.get(), scratch_size_, d_input_.get(), size, d_small()->counts.data(),
                     stream_);
  }

  void upload_table(const CodeTable& table) {
    small_->table = table;
    upload(&d_small()->table, {reinterpret_cast<const std::uint8_t*>(&small_->table), sizeof table});
  }

  void encode_on_device(const SegmentPlan& plan, std::size_t size, std::span<std::uint8_t> stream) {
    upload_table(plan.table);
    DeviceEncode call;
    call.d_input = d_input_.get(), call.size = size, call.d_table = &d_small()->table;
    call.d_output = d_output_.get(), call.capacity = kSegmentSize;
    call.d_chunk_index = d_small()->chunk_index.data(), call.d_result = &d_small()->encoded;
    device_encode(d_scratch_.get(), scratch_size_, call, stream_);
    download(stream.data(), d_output_.get(), stream.size());
    download(&small_->encoded, &d_small()->encoded, sizeof small_->encoded);
    download(&small_->chunk_index, &d_small()->chunk_index, chunk_count(size) * sizeof(std::uint64_t));
    finish();
    if (small_->encoded.missing != 0 || small_->encoded.bits != plan.header.bits) {
      throw Error(ErrorCode::device_failure,
                  "the length of the device's stream differs from what its histogram says",
                  "check the GPU and its driver, or use the cpu backend");
    }
  }

  void decode_on_device(const RecordHeader& header, const SegmentTables& tables, Bytes stream,
                        std::span<std::uint8_t> output) {
    check_stream(stream, header.bits, output.size());
    upload(d_input_.get(), stream);
    upload_table(assign_codes(tables.lengths));
    std::copy(tables.chunk_index.begin(), tables.chunk_index.end(), small_->chunk_index.begin());
    const std::size_t index_size = tables.chunk_index.size() * sizeof(std::uint64_t);
    upload(&d_small()->chunk_index,
           {reinterpret_cast<const std::uint8_t*>(&small_->chunk_index), index_size});
    small_->encoded.bits = header.bits;
    upload(&d_small()->encoded.bits, {reinterpret_cast<const std::uint8_t*>(&small_->encoded.bits), 8});
    DeviceDecode call;
    call.d_stream = d_input_.get(), call.stream_size = (stream.size() + 3) / 4 * 4;
    call.d_bits = &d_small()->encoded.bits, call.d_table = &d_small()->table;
    call.d_chunk_index = d_small()->chunk_index.data();
    call.d_output = d_output_.get(), call.size = output.size(), call.d_result = &d_small()->decoded;
    device_decode(d_scratch_.get(), scratch_size_, call, stream_);
    download(output.data(), d_output_.get(), output.size());
    download(&small_->decoded, &d_small()->decoded, sizeof small_->decoded);
    finish();
    if (small_->decoded.corrupt != 0) {
      throw Error(ErrorCode::bad_input,
                  "the coded stream is damaged: its codes do not end where they should");
    }
  }

  int device_;
  cudaStream_t stream_ = nullptr;
  std::size_t scratch_size_ = 0;
  DeviceMemory d_scratch_, d_input_, d_output_, d_small_;
  HostMemory small_memory_;
  Small* small_ = nullptr;
};

}  // namespace

std::unique_ptr<SegmentCoder> make_cuda_coder(int device) {
  return std::make_unique<CudaCoder>(device);
}

}  // namespace cu264::vle
