// The functions of cu264/rle.h on device memory. In a build without CUDA they throw an error.
#include "cu264/rle.h"
#include "entropy/rle/device_encode.h"
#include "entropy/scan/device_request.h"

namespace cu264::rle {
namespace {

#if defined(CU264_WITH_CUDA)

template <class T>
void encode_runs(void* d_scratch, std::size_t& scratch_size, const EncodeArrays<T>& arrays, void* stream) {
  scan::check_count(arrays.size);
  if (scan::is_size_query(d_scratch, scratch_size, encode_scratch_bytes(arrays.size))) return;
  launch_encode(arrays, d_scratch, stream);
}

template <class T>
void decode_runs(void* d_scratch, std::size_t& scratch_size, const DecodeArrays<T>& arrays, void* stream) {
  scan::check_count(arrays.runs), scan::check_count(arrays.size);
  if (scan::is_size_query(d_scratch, scratch_size, decode_scratch_bytes(arrays.runs))) return;
  launch_decode(arrays, d_scratch, stream);
}

#else

template <class T>
void encode_runs(void*, std::size_t&, const EncodeArrays<T>&, void*) {
  scan::refuse_without_cuda();
}
template <class T>
void decode_runs(void*, std::size_t&, const DecodeArrays<T>&, void*) {
  scan::refuse_without_cuda();
}

#endif

}  // namespace

void device_encode(void* d_scratch, std::size_t& scratch_size, const std::uint8_t* d_input,
                   std::uint64_t size, std::uint8_t* d_symbols, std::uint32_t* d_lengths,
                   std::uint64_t* d_runs, void* stream) {
  encode_runs<std::uint8_t>(d_scratch, scratch_size, {d_input, size, d_symbols, d_lengths, d_runs}, stream);
}
void device_encode(void* d_scratch, std::size_t& scratch_size, const std::int32_t* d_input,
                   std::uint64_t size, std::int32_t* d_symbols, std::uint32_t* d_lengths,
                   std::uint64_t* d_runs, void* stream) {
  encode_runs<std::int32_t>(d_scratch, scratch_size, {d_input, size, d_symbols, d_lengths, d_runs}, stream);
}
void device_decode(void* d_scratch, std::size_t& scratch_size, const std::uint8_t* d_symbols,
                   const std::uint32_t* d_lengths, std::uint64_t runs, std::uint8_t* d_output,
                   std::uint64_t size, std::uint64_t* d_total, void* stream) {
  decode_runs<std::uint8_t>(d_scratch, scratch_size, {d_symbols, d_lengths, runs, d_output, size, d_total},
                            stream);
}
void device_decode(void* d_scratch, std::size_t& scratch_size, const std::int32_t* d_symbols,
                   const std::uint32_t* d_lengths, std::uint64_t runs, std::int32_t* d_output,
                   std::uint64_t size, std::uint64_t* d_total, void* stream) {
  decode_runs<std::int32_t>(d_scratch, scratch_size, {d_symbols, d_lengths, runs, d_output, size, d_total},
                            stream);
}

}  // namespace cu264::rle
