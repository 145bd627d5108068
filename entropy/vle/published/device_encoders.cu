#include "entropy/vle/published/device_encoders.h"

#include <array>

#include "entropy/vle/fast.h"
#include "entropy/vle/published/cuvle.h"
#include "entropy/vle/published/exp_gm.h"
#include "entropy/vle/published/exp_reg.h"
#include "entropy/vle/published/exp_vlet.h"
#include "entropy/vle/published/gvle.h"
#include "entropy/vle/published/pavle.h"
#include "entropy/vle/published/yavle.h"

namespace cu264::vle {

std::span<const DeviceEncoder> device_encoders() {
  static const std::array encoders{device_encoder<kPavle>(), device_encoder<kCuvle>(),
                                   device_encoder<kYavle>(), device_encoder<kExpVlet>(),
                                   device_encoder<kExpGm>(), device_encoder<kExpReg>(),
                                   device_encoder<kGvle>(),  fast_encoder()};
  return encoders;
}

std::span<const PublishedEncoder* const> published_encoders() {
  static const std::array encoders{&kPavle, &kCuvle, &kYavle, &kExpVlet, &kExpGm, &kExpReg, &kGvle};
  return encoders;
}

}  // namespace cu264::vle
