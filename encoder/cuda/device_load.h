// How much work the encoders of this process have launched on a device and not yet seen finish. It only
// chooses between kernels that give the same bytes.
#pragma once

#include <array>
#include <atomic>
#include <utility>

namespace cu264::encoder::cuda {

// A batch's share of the device's load, from its launch until it is given up.
class DeviceLoad {
 public:
  DeviceLoad() = default;
  DeviceLoad(int device, int pictures) : total_(&total_of(device)), pictures_(pictures) {
    *total_ += pictures;
  }
  DeviceLoad(DeviceLoad&& other) noexcept
      : total_(std::exchange(other.total_, nullptr)), pictures_(other.pictures_) {}
  DeviceLoad& operator=(DeviceLoad&& other) noexcept {
    std::swap(total_, other.total_);
    std::swap(pictures_, other.pictures_);
    return *this;
  }
  ~DeviceLoad() {
    if (total_) *total_ -= pictures_;
  }

  // The pictures of all batches on this batch's device.
  int pictures_on_device() const { return total_ ? total_->load() : 0; }

 private:
  static std::atomic<int>& total_of(int device) {
    static std::array<std::atomic<int>, 64> totals{};
    return totals[static_cast<std::size_t>(device) % totals.size()];
  }

  std::atomic<int>* total_ = nullptr;
  int pictures_ = 0;
};

}  // namespace cu264::encoder::cuda
