// The functions of cu264/scan.h on device memory. In a build without CUDA they throw an error.
#include "cu264/scan.h"
#include "entropy/scan/device_request.h"
#include "entropy/scan/device_scan.h"

namespace cu264::scan {
namespace {

#if defined(CU264_WITH_CUDA)

template <class Sum>
void scan(void* d_scratch, std::size_t& scratch_size, const ScanArrays<Sum>& arrays, void* stream) {
  check_count(arrays.count);
  if (is_size_query(d_scratch, scratch_size, scan_scratch_bytes(arrays.count))) return;
  launch_scan(arrays, d_scratch, stream);
}

template <class T>
void select_items(void* d_scratch, std::size_t& scratch_size, const SelectArrays<T>& arrays, void* stream) {
  check_count(arrays.count);
  if (is_size_query(d_scratch, scratch_size, select_scratch_bytes(arrays.count))) return;
  launch_select(arrays, d_scratch, stream);
}

#else

template <class Sum>
void scan(void*, std::size_t&, const ScanArrays<Sum>&, void*) {
  refuse_without_cuda();
}
template <class T>
void select_items(void*, std::size_t&, const SelectArrays<T>&, void*) {
  refuse_without_cuda();
}

#endif

}  // namespace

void device_scan(void* d_scratch, std::size_t& scratch_size, const std::uint32_t* d_input,
                 std::uint32_t* d_output, std::uint64_t count, Kind kind, void* stream) {
  scan<std::uint32_t>(d_scratch, scratch_size, {d_input, d_output, count, kind}, stream);
}
void device_scan(void* d_scratch, std::size_t& scratch_size, const std::uint32_t* d_input,
                 std::uint64_t* d_output, std::uint64_t count, Kind kind, void* stream) {
  scan<std::uint64_t>(d_scratch, scratch_size, {d_input, d_output, count, kind}, stream);
}

void device_select(void* d_scratch, std::size_t& scratch_size, const std::uint32_t* d_input,
                   const std::uint8_t* d_flags, std::uint32_t* d_output, std::uint64_t count,
                   std::uint64_t* d_selected, void* stream) {
  select_items<std::uint32_t>(d_scratch, scratch_size, {d_input, d_flags, d_output, count, d_selected},
                              stream);
}
void device_select(void* d_scratch, std::size_t& scratch_size, const std::uint8_t* d_input,
                   const std::uint8_t* d_flags, std::uint8_t* d_output, std::uint64_t count,
                   std::uint64_t* d_selected, void* stream) {
  select_items<std::uint8_t>(d_scratch, scratch_size, {d_input, d_flags, d_output, count, d_selected},
                             stream);
}
void device_select_nonzero(void* d_scratch, std::size_t& scratch_size, const std::uint32_t* d_input,
                           std::uint32_t* d_output, std::uint64_t count, std::uint64_t* d_selected,
                           void* stream) {
  select_items<std::uint32_t>(d_scratch, scratch_size, {d_input, nullptr, d_output, count, d_selected},
                              stream);
}
void device_select_nonzero(void* d_scratch, std::size_t& scratch_size, const std::uint8_t* d_input,
                           std::uint8_t* d_output, std::uint64_t count, std::uint64_t* d_selected,
                           void* stream) {
  select_items<std::uint8_t>(d_scratch, scratch_size, {d_input, nullptr, d_output, count, d_selected},
                             stream);
}

}  // namespace cu264::scan
