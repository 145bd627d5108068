// Parameter sets and the SEI message: all of the stream except its slices. Slice headers are in
// core/slice_header.h.
//
// The *_rbsp functions return raw byte sequence payloads with their trailing bits and without emulation
// prevention.
#pragma once

#include <cstdint>
#include <vector>

#include "cu264/encoder.h"

namespace cu264::encoder {

// nal_ref_idc of slices and parameter sets; an SEI message has 0 (H.264 7.4.1).
inline constexpr int kNalRefIdc = 3;

// Sequence parameter set (H.264 7.3.2.1.1) with VUI (E.1.1). level_idc as EncoderInfo has it: 9 is level 1b.
std::vector<std::uint8_t> sps_rbsp(const Config& config, int level_idc);

// Picture parameter set (H.264 7.3.2.2).
std::vector<std::uint8_t> pps_rbsp(const Config& config);

// user_data_unregistered (H.264 D.1.7): names the encoder and those settings that decide the bytes.
std::vector<std::uint8_t> sei_rbsp(const Config& config);

// SPS, PPS and, if asked for, SEI as NAL units in Annex B form.
std::vector<std::uint8_t> stream_headers(const Config& config, int level_idc, bool with_sei);

}  // namespace cu264::encoder
