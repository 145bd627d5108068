#include <algorithm>

#include "common/cuda/error_check.h"
#include "common/cuda/kernel_shared_memory.h"
#include "encoder/cuda/encrypt.h"
#include "encoder/cuda/group_keystream.cuh"
#include "encoder/cuda/tuned.h"
#include "entropy/cavlc/block_list.cuh"
#include "entropy/cavlc/macroblock_lane.cuh"
#include "protect/cuda/aes_table.cuh"

namespace cu264::encoder::cuda {
namespace {

constexpr int kMaxWarps = 32;

// A warp's list of AES blocks; each entry is number of the group << 10 | macroblock << 5 | block.
struct Listed {
  std::uint16_t entries[tuned::kKeystreamGroups * entropy::kGroup * (1 + protect::kMaxKeyBlocks)];
};

struct KeystreamJob {
  BatchView batch;
  EncryptionPlan plan;
  entropy::GroupLayout layout;
  entropy::GroupBits bits;
};

// Lists a group's blocks from s_listed on and returns the end of the list. All lanes must call this.
__device__ std::uint16_t* list_group(const KeystreamJob& job, const entropy::Group& group,
                                     std::uint32_t number, std::uint16_t* s_listed, int lane) {
  const entropy::MacroblockLane mb(job.batch, group, lane);
  const MacroblockKeystream own(job.batch, mb, job.plan.levels(), lane);
  const std::uint32_t entry = number << 10 | static_cast<std::uint32_t>(lane) << 5;
  const int left_out = job.plan.parts.modes ? 0 : group.end - group.first;
  if (left_out == 0 && mb.exists)
    s_listed[lane] = static_cast<std::uint16_t>(entry | protect::kKeystreamModes);
  std::uint16_t* const s_own = s_listed + (own.first - left_out);
#pragma unroll 1
  for (int i = 0; i < own.blocks; ++i) s_own[i] = static_cast<std::uint16_t>(entry | i);
  return s_listed + (__shfl_sync(0xffffffffu, own.first + own.blocks, 31) - left_out);
}

// Each warp takes two groups: it lists the AES blocks that they need, and then each lane computes one of the
// listed blocks at a time.
template <int kTables>
__global__ void __launch_bounds__(32 * kMaxWarps) group_keystream(const __grid_constant__ KeystreamJob job) {
  using Table = protect::cuda::AesTable<kTables>;
  extern __shared__ __align__(16) std::uint32_t s_table[];
  Table::fill(s_table);
  __syncthreads();
  const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) >> 5;
  std::uint16_t* const s_listed = reinterpret_cast<Listed*>(s_table + Table::kWords)[warp].entries;
  const Table aes(s_table, lane);
  const auto groups = static_cast<std::uint32_t>(job.layout.groups());
  const std::uint32_t stride = gridDim.x * (blockDim.x >> 5);
  // Neighbouring groups go to different multiprocessors, so that all have the same amount of work.
  for (std::uint32_t unit = warp * gridDim.x + blockIdx.x; tuned::kKeystreamGroups * unit < groups;
       unit += stride) {
    std::uint32_t pictures[tuned::kKeystreamGroups] = {}, counters[tuned::kKeystreamGroups] = {};
    uint4* d_first[tuned::kKeystreamGroups] = {};
    std::uint16_t* s_end = s_listed;
#pragma unroll
    for (std::uint32_t i = 0; i < tuned::kKeystreamGroups; ++i) {
      if (tuned::kKeystreamGroups * unit + i >= groups) break;
      const entropy::Group group =
          entropy::group_at(job.batch, job.layout, tuned::kKeystreamGroups * unit + i);
      if (group.first >= group.end) continue;
      pictures[i] = static_cast<std::uint32_t>(job.batch.params[group.picture].index);
      counters[i] = static_cast<std::uint32_t>(group.first);
      d_first[i] = reinterpret_cast<uint4*>(job.bits.words_of(job.batch, group)) - (s_end - s_listed) +
                   (job.plan.parts.modes ? 0 : group.end - group.first);
      s_end = list_group(job, group, i, s_end, lane);
    }
    __syncwarp();
    const int listed = static_cast<int>(s_end - s_listed);
    // All lanes take part, so that the table's address is uniform.
    for (int begin = 0; begin < listed; begin += 32) {
      const int entry = s_listed[min(begin + lane, listed - 1)];
      const int number = entry >> 10;
      const auto mb = static_cast<std::uint32_t>(entry >> 5 & 31),
                 block = static_cast<std::uint32_t>(entry & 31);
      const protect::AesBlock key = aes.encrypt(
          job.plan.key, protect::keystream_counter(job.plan.nonce, number != 0 ? pictures[1] : pictures[0],
                                                   (number != 0 ? counters[1] : counters[0]) + mb,
                                                   KeystreamUse::encryption, block));
      if (begin + lane < listed) {
        (number != 0 ? d_first[1] : d_first[0])[begin + lane] =
            make_uint4(key.words[0], key.words[1], key.words[2], key.words[3]);
      }
    }
    __syncwarp();
  }
}

}  // namespace

void launch_group_keystream(const BatchView& batch, const EncryptionPlan& plan,
                            const entropy::GroupBits& bits, cudaStream_t stream) {
  const KeystreamJob job{batch, plan, entropy::group_layout(batch), bits};
  int device = 0, processors = 0, shared = 0;
  check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  check_cuda(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device),
             "cudaDeviceGetAttribute");
  check_cuda(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
             "cudaDeviceGetAttribute");
  constexpr int kWarp = static_cast<int>(sizeof(Listed)), kTable = protect::cuda::AesTable<1>::kBytes;
  // As many copies of the table as leave room for a few warps; on Turing that is one.
  const int tables = shared >= 4 * kTable + 16 * kWarp ? 4 : shared >= 2 * kTable + 8 * kWarp ? 2 : 1;
  const int warps = std::clamp((shared - tables * kTable) / kWarp, 1, kMaxWarps);
  const int bytes = tables * kTable + warps * kWarp;
  const auto kernel = tables == 4   ? group_keystream<4>
                      : tables == 2 ? group_keystream<2>
                                    : group_keystream<1>;
  allow_shared_memory(kernel);
  // Each multiprocessor gets one block. If there are few groups, every multiprocessor gets one busy warp
  // before any gets two.
  const auto units =
      static_cast<int>((job.layout.groups() + tuned::kKeystreamGroups - 1) / tuned::kKeystreamGroups);
  kernel<<<std::min(units, processors), 32 * warps, static_cast<std::size_t>(bytes), stream>>>(job);
  check_launch("group_keystream");
}

}  // namespace cu264::encoder::cuda
