#include "entropy/vle/published/published_encoders.h"

#include <array>

#include "entropy/vle/fast.h"

namespace cu264::vle {

std::span<const DeviceEncoder> device_encoders() {
  static const std::array encoders{device_encoder<kPavle>(),
                                   device_encoder<kCuvle>(),
                                   device_encoder<kYavle>(),
                                   device_encoder<kExpVlet>(),
                                   device_encoder<kExpGm>(),
                                   device_encoder<kExpReg>(),
                                   device_encoder<kGvle>(),
                                   device_encoder<kYavleTuned>(),
                                   device_encoder<kExpVletTuned>(),
                                   device_encoder<kExpGmTuned>(),
                                   device_encoder<kExpRegTuned>(),
                                   device_encoder<kGvleTuned>(),
                                   fast_encoder()};
  return encoders;
}

std::span<const PublishedEncoder* const> published_encoders() {
  static const std::array encoders{&kPavle,        &kCuvle,      &kYavle,       &kExpVlet,
                                   &kExpGm,        &kExpReg,     &kGvle,        &kYavleTuned,
                                   &kExpVletTuned, &kExpGmTuned, &kExpRegTuned, &kGvleTuned};
  return encoders;
}

}  // namespace cu264::vle
