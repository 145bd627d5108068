#include "encoder/options/option_names.h"

#include "encoder/config.h"

namespace cu264::encoder {
namespace {

template <typename T, std::size_t n>
const char* known_name(const Named<T> (&names)[n], T value, const char* noun) {
  if (const char* const name = find_name(names, value)) return name;
  throw Error(ErrorCode::invalid_argument, std::string("unknown ") + noun, "use " + listed(names));
}

}  // namespace

const char* name_of(Preset preset) {
  return known_name(kPresets, preset, "preset");
}

const char* name_of(Profile profile) {
  return known_name(kProfiles, profile, "profile");
}

const char* name_of(PixelFormat format) {
  return known_name(kFormats, format, "pixel format");
}

const char* name_of(AdaptiveQuantisation aq) {
  return known_name(kAqs, aq, "adaptive quantisation");
}

const char* name_of(HeaderPlacement placement) {
  return known_name(kPlacements, placement, "placement of headers");
}

const char* name_of(BackendChoice backend) {
  return known_name(kBackends, backend, "backend");
}

const char* name_of(EntropyCoder entropy) {
  return known_name(kEntropies, entropy, "entropy coder");
}

const char* name_of(Packing packing) {
  return known_name(kPackings, packing, "packing");
}

const char* name_of(OnOverflow reaction) {
  return known_name(kOverflows, reaction, "reaction to an overflow");
}

}  // namespace cu264::encoder
