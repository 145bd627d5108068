// Settings by name of what is no Config: changes of an open encoder, and groups of streams.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>

#include "cu264/cu264.h"
#include "cu264/encoder.h"
#include "cu264/stream_group.h"

namespace cu264::capi {

std::span<const cu264_setting> settings_at(const cu264_setting* settings, std::size_t count);

ConfigChanges changes_of(std::span<const cu264_setting> settings);
StreamGroupConfig group_config_of(std::span<const cu264_setting> settings);

// A negative time is as long as it takes.
inline std::chrono::nanoseconds timeout_of(std::int64_t nanoseconds) {
  return nanoseconds < 0 ? std::chrono::nanoseconds::max() : std::chrono::nanoseconds(nanoseconds);
}

}  // namespace cu264::capi
