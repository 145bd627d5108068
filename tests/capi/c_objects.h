// Owners of what the C API makes, for tests in C++.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cu264/cu264.h"

namespace cu264::test {

template <auto destroy>
struct Destroyer {
  template <class T>
  void operator()(T* object) const {
    destroy(object);
  }
};
using CEncoder = std::unique_ptr<cu264_encoder, Destroyer<cu264_encoder_destroy>>;
using CGroup = std::unique_ptr<cu264_group, Destroyer<cu264_group_destroy>>;
using CPacket = std::unique_ptr<cu264_packet, Destroyer<cu264_packet_release>>;
using CInfo = std::unique_ptr<cu264_info, Destroyer<cu264_info_release>>;

using Settings = std::vector<std::pair<std::string, std::string>>;

class CConfig {
 public:
  explicit CConfig(std::initializer_list<std::pair<std::string, std::string>> settings)
      : CConfig(Settings(settings)) {}
  explicit CConfig(const Settings& settings) {
    cu264_config* made = nullptr;
    EXPECT_EQ(cu264_config_create(&made), CU264_OK);
    config_.reset(made);
    for (const auto& [name, value] : settings)
      EXPECT_EQ(cu264_config_set(made, name.c_str(), value.c_str()), CU264_OK) << cu264_last_error();
  }

  cu264_config* get() const { return config_.get(); }

 private:
  std::unique_ptr<cu264_config, Destroyer<cu264_config_destroy>> config_;
};

inline CEncoder open_c_encoder(const CConfig& config) {
  cu264_encoder* encoder = nullptr;
  EXPECT_EQ(cu264_encoder_open(config.get(), &encoder), CU264_OK) << cu264_last_error();
  return CEncoder(encoder);
}

inline CPacket receive_c_packet(const CEncoder& encoder) {
  cu264_packet* packet = nullptr;
  const cu264_status status = cu264_encoder_receive(encoder.get(), &packet);
  EXPECT_EQ(status, packet != nullptr ? CU264_OK : CU264_AGAIN) << cu264_last_error();
  return CPacket(packet);
}

}  // namespace cu264::test
