// Memory that runs out is a status, never an exception: each allocation of the calling thread fails once.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "tests/capi/c_objects.h"

namespace {

thread_local int allocations_left = -1;  // until one fails; negative: none does

void* allocate(std::size_t size) {
  if (allocations_left == 0) throw std::bad_alloc();
  if (allocations_left > 0) --allocations_left;
  if (void* const memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}

}  // namespace

// These take the place of the C++ library's in the whole process, libcu264.so included.
void* operator new(std::size_t size) {
  return allocate(size);
}
void* operator new[](std::size_t size) {
  return allocate(size);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace cu264::test {
namespace {

// Calls until no allocation fails. Returns how many did.
template <class Call>
int fail_each_allocation(const Call& call) {
  constexpr int kMax = 5000;
  for (int allowed = 0; allowed < kMax; ++allowed) {
    allocations_left = allowed;
    const cu264_status status = call();
    allocations_left = -1;
    if (status == CU264_OK) return allowed;
    EXPECT_EQ(status, CU264_OUT_OF_MEMORY) << allowed << ": " << cu264_last_error();
    EXPECT_STREQ(cu264_last_error(), "there is not enough memory") << allowed;
    if (testing::Test::HasFailure()) break;
  }
  ADD_FAILURE() << "the call never had memory enough";
  return 0;
}

TEST(CMemory, ConfigurationsMayHaveNone) {
  cu264_config* config = nullptr;
  EXPECT_GE(fail_each_allocation([&] { return cu264_config_create(&config); }), 1);
  EXPECT_EQ(cu264_config_set(config, "device", "0,1"), CU264_OK);
  cu264_config* copy = nullptr;
  EXPECT_GE(fail_each_allocation([&] { return cu264_config_copy(config, &copy); }), 2);
  EXPECT_GE(fail_each_allocation([&] { return cu264_config_set(config, "device", "3,4"); }), 2);
  cu264_config_destroy(copy);
  cu264_config_destroy(config);
}

TEST(CMemory, EncodersMayHaveNone) {
  const CConfig config({{"size", "32x32"}, {"backend", "cpu"}, {"threads", "1"}});
  cu264_encoder* encoder = nullptr;
  // oneTBB waits for ever for its own first use if that runs out of memory, so that comes before.
  ASSERT_EQ(cu264_encoder_open(config.get(), &encoder), CU264_OK);
  cu264_encoder_destroy(encoder);
  EXPECT_GE(fail_each_allocation([&] { return cu264_encoder_open(config.get(), &encoder); }), 10);
  cu264_info* info = nullptr;
  EXPECT_GE(fail_each_allocation([&] { return cu264_encoder_info(encoder, &info); }), 2);
  cu264_info_release(info);
  cu264_encoder_destroy(encoder);
}

}  // namespace
}  // namespace cu264::test
