/* Prints what a compiled C program relies on: the size of each struct, where its members lie, and values. */
#include <cu264/cu264.h>
#include <stdio.h>

#define SIZE(type) printf("%s %zu\n", #type, sizeof(type))
#define MEMBER(type, member) \
  printf("%s.%s %zu %zu\n", #type, #member, offsetof(type, member), sizeof(((type*)0)->member))
#define VALUE(name) printf("%s %lld\n", #name, (long long)(name))

int main(void) {
  SIZE(cu264_setting);
  MEMBER(cu264_setting, name);
  MEMBER(cu264_setting, value);
  SIZE(cu264_option);
  MEMBER(cu264_option, struct_size);
  MEMBER(cu264_option, name);
  MEMBER(cu264_option, value);
  MEMBER(cu264_option, meaning);
  MEMBER(cu264_option, implicit_value);
  MEMBER(cu264_option, group);
  MEMBER(cu264_option, reserved);
  SIZE(cu264_frame);
  MEMBER(cu264_frame, struct_size);
  MEMBER(cu264_frame, format);
  MEMBER(cu264_frame, memory);
  MEMBER(cu264_frame, width);
  MEMBER(cu264_frame, height);
  MEMBER(cu264_frame, plane);
  MEMBER(cu264_frame, pitch);
  MEMBER(cu264_frame, pts);
  MEMBER(cu264_frame, user_data);
  MEMBER(cu264_frame, stream);
  MEMBER(cu264_frame, added_bytes);
  MEMBER(cu264_frame, has_qp);
  MEMBER(cu264_frame, qp);
  MEMBER(cu264_frame, float_range);
  MEMBER(cu264_frame, reserved);
  SIZE(cu264_packet);
  MEMBER(cu264_packet, struct_size);
  MEMBER(cu264_packet, data);
  MEMBER(cu264_packet, size);
  MEMBER(cu264_packet, pts);
  MEMBER(cu264_packet, user_data);
  MEMBER(cu264_packet, index);
  MEMBER(cu264_packet, key);
  MEMBER(cu264_packet, qp);
  MEMBER(cu264_packet, mean_qp);
  MEMBER(cu264_packet, buffer_bits);
  MEMBER(cu264_packet, device_data);
  MEMBER(cu264_packet, device_size);
  MEMBER(cu264_packet, reconstruction);
  MEMBER(cu264_packet, reconstruction_size);
  MEMBER(cu264_packet, edges);
  MEMBER(cu264_packet, edges_size);
  MEMBER(cu264_packet, codings);
  MEMBER(cu264_packet, intra4x4_mbs);
  MEMBER(cu264_packet, intra8x8_mbs);
  MEMBER(cu264_packet, intra16x16_mbs);
  MEMBER(cu264_packet, pcm_mbs);
  MEMBER(cu264_packet, reserved);
  MEMBER(cu264_packet, header_bits);
  MEMBER(cu264_packet, residual_bits);
  SIZE(cu264_info);
  MEMBER(cu264_info, struct_size);
  MEMBER(cu264_info, backend);
  MEMBER(cu264_info, backend_reason);
  MEMBER(cu264_info, profile);
  MEMBER(cu264_info, profile_reason);
  MEMBER(cu264_info, cabac);
  MEMBER(cu264_info, width);
  MEMBER(cu264_info, height);
  MEMBER(cu264_info, batch);
  MEMBER(cu264_info, level_idc);
  MEMBER(cu264_info, reserved);
  MEMBER(cu264_info, level_bit_rate);
  MEMBER(cu264_info, dropped);
  MEMBER(cu264_info, headers);
  MEMBER(cu264_info, headers_size);
  MEMBER(cu264_info, warnings);
  MEMBER(cu264_info, warning_count);
  VALUE(CU264_OK);
  VALUE(CU264_INVALID_ARGUMENT);
  VALUE(CU264_UNSUPPORTED);
  VALUE(CU264_BAD_INPUT);
  VALUE(CU264_BAD_OUTPUT);
  VALUE(CU264_OUT_OF_MEMORY);
  VALUE(CU264_DEVICE_UNAVAILABLE);
  VALUE(CU264_DEVICE_FAILURE);
  VALUE(CU264_ENCODE_FAILURE);
  VALUE(CU264_VERIFY_FAILURE);
  VALUE(CU264_AGAIN);
  VALUE(CU264_LOG_WARNING);
  VALUE(CU264_LOG_INFO);
  VALUE(CU264_GROUP_CODING);
  VALUE(CU264_GROUP_EXECUTION);
  VALUE(CU264_GROUP_INPUT);
  VALUE(CU264_GROUP_OUTPUT);
  VALUE(CU264_GROUP_DESCRIPTION);
  VALUE(CU264_FORMAT_I420);
  VALUE(CU264_FORMAT_NV12);
  VALUE(CU264_FORMAT_GRAY8);
  VALUE(CU264_FORMAT_RGB24);
  VALUE(CU264_FORMAT_BGR24);
  VALUE(CU264_FORMAT_RGBA32);
  VALUE(CU264_FORMAT_RGB_PLANAR);
  VALUE(CU264_FORMAT_RGB_FLOAT_PLANAR);
  VALUE(CU264_FORMAT_RGB_FLOAT);
  VALUE(CU264_FORMAT_RGB_HALF_PLANAR);
  VALUE(CU264_FORMAT_RGB_HALF);
  VALUE(CU264_FORMAT_RGB_BFLOAT16_PLANAR);
  VALUE(CU264_FORMAT_RGB_BFLOAT16);
  VALUE(CU264_MEMORY_HOST);
  VALUE(CU264_MEMORY_PINNED);
  VALUE(CU264_MEMORY_DEVICE);
  VALUE(CU264_FLOAT_ZERO_TO_ONE);
  VALUE(CU264_FLOAT_MINUS_ONE_TO_ONE);
  VALUE(CU264_NO_STREAM);
  return 0;
}
