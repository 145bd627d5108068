#include "tests/parity/device_runner.h"

#include <cuda_runtime.h>

#include "common/cuda/error_check.h"
#include "support/device_array.cuh"
#include "tests/parity/core_cases.h"

namespace cu264::parity {
namespace {

using test::DeviceArray;

template <class Case>
__global__ void run_cases(const typename Case::Input* d_inputs, typename Case::Output* d_outputs, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;
  typename Case::Output out;
  Case::run(d_inputs[i], out);
  d_outputs[i] = out;
}

}  // namespace

template <class Case>
std::vector<typename Case::Output> on_device(const std::vector<typename Case::Input>& inputs) {
  const std::size_t count = inputs.size();
  DeviceArray<typename Case::Input> d_inputs(count);
  DeviceArray<typename Case::Output> d_outputs(count);
  check_cuda(cudaMemcpy(d_inputs.data(), inputs.data(), count * sizeof(inputs[0]), cudaMemcpyHostToDevice),
             "upload");
  constexpr int kThreads = 128;
  const int blocks = static_cast<int>((count + kThreads - 1) / kThreads);
  run_cases<Case><<<blocks, kThreads>>>(d_inputs.data(), d_outputs.data(), static_cast<int>(count));
  check_cuda(cudaGetLastError(), "launch");
  check_cuda(cudaDeviceSynchronize(), "kernel");
  std::vector<typename Case::Output> outputs(count);
  check_cuda(cudaMemcpy(outputs.data(), d_outputs.data(), count * sizeof(outputs[0]), cudaMemcpyDeviceToHost),
             "download");
  return outputs;
}

#define CU264_PARITY_CASE(Case) \
  template std::vector<Case::Output> on_device<Case>(const std::vector<Case::Input>&)
CU264_PARITY_CASE(CavlcBlock);
CU264_PARITY_CASE(MacroblockHeader);
CU264_PARITY_CASE(TransformQuantise);
CU264_PARITY_CASE(Rdoq);
CU264_PARITY_CASE(Intra4x4);
CU264_PARITY_CASE(IntraPlane);
CU264_PARITY_CASE(Deblock);
CU264_PARITY_CASE(NalEscape);

}  // namespace cu264::parity
