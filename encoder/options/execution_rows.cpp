// Options of where and how pictures are encoded, which never change the bytes.
#include <algorithm>

#include "encoder/options/option_kinds.h"

namespace cu264::encoder {
namespace {

constexpr OptionKind kDevices = {
    ConfigOption::Type::devices,
    "N[,N]",
    nullptr,
    0,
    kMaxDevices - 1,
    [](Config& config, const OptionText& value) { config.devices = parse_devices(value, kMaxDevices); },
    [](const Config& config) { return devices_text(config.devices); },
    [](const Config& config, const char*) {
      for (auto device = config.devices.begin(); device != config.devices.end(); ++device) {
        require_range("device", *device, 0, kMaxDevices - 1);
        require(std::find(config.devices.begin(), device, *device) == device, "a device is named twice",
                "name each device once");
      }
    }};

constexpr OptionRow kRows[] = {
    {.name = "backend",
     .kind = kChoice<Field<&Config::backend>, kBackends>,
     .meaning = "what encodes; auto: cuda where that works (auto)",
     .field = "backend",
     .keyword = "backend",
     .about = "What encodes; auto: cuda where that works. All give the same bytes."},
    {.name = "device",
     .kind = kDevices,
     .meaning = "which CUDA device, or several that share the work (0)",
     .field = "devices",
     .keyword = "device",
     .about = "The CUDA device for frames in host memory; frames on a device are encoded there."},
    {.name = "batch",
     .kind = kWhole<Field<&Config::batch>, 0, kMaxBatch>,
     .meaning = "pictures the CUDA backend encodes together; 0: what fills the device (0)",
     .field = "batch",
     .keyword = "batch",
     .about = "Pictures that the CUDA backend encodes together; 0: as many as it takes to fill the device."},
    {.name = "threads",
     .kind = kWholeOrAuto<Field<&Config::threads>, 0, kMaxThreads>,
     .meaning = "of the CPU backend; auto or 0: one a core (auto). Never changes the bytes",
     .field = "threads",
     .keyword = "threads",
     .about = "Threads of the CPU backend; 0: one a core."},
};

}  // namespace

std::span<const OptionRow> execution_rows() {
  return kRows;
}

}  // namespace cu264::encoder
