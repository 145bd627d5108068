#include "encoder/deblock_picture.h"

#include "encoder/deblock_isa.h"
#include "encoder/instruction_set.h"

namespace cu264::encoder {
namespace {

struct Filters {
  decltype(&isa_portable::filter_i_row) i_row;
  decltype(&isa_portable::filter_p_row) p_row;
};

Filters choose() {
  switch (newest_instruction_set()) {
#if defined(CU264_X86_64_LEVELS)
    case InstructionSet::x86_64_v4:
      return {isa_x86_64_v4::filter_i_row, isa_x86_64_v4::filter_p_row};
    case InstructionSet::x86_64_v3:
      return {isa_x86_64_v3::filter_i_row, isa_x86_64_v3::filter_p_row};
#endif
    default:
      return {isa_portable::filter_i_row, isa_portable::filter_p_row};
  }
}

const Filters& chosen() {
  static const Filters filters = choose();
  return filters;
}

}  // namespace

void deblock_picture(CpuPicture& picture, int filter_offset_a, int filter_offset_b, const ForRows& for_rows) {
  const core::FilterOffsets offsets = {filter_offset_a, filter_offset_b};
  const auto filter_row = picture.inter ? chosen().p_row : chosen().i_row;
  for_rows_in_order(for_rows, picture.mb_height, picture.mb_width,
                    [&](int row, RowProgress& progress) { filter_row(picture, row, offsets, progress); });
}

}  // namespace cu264::encoder
