// What library and module must have in common.
#pragma once

#include <string>

#include "cu264/encoder.h"
#include "encoder/backend.h"
#include "encoder/build_text.h"
#include "encoder/cuda_module/module_table.h"
#include "encoder/rate_control/analyser.h"

namespace cu264::encoder::cuda {

// The version, the commit if it is known, the compiler, and the sizes of what passes between the two, which
// tell builds between versions apart.
inline std::string build_identity() {
  std::string text = "cu264 " CU264_VERSION_TEXT " (" CU264_COMMIT_TEXT CU264_COMPILER_TEXT ", layout";
  for (const std::size_t size : {sizeof(ModuleTable), sizeof(Config), sizeof(StreamParams), sizeof(Job),
                                 sizeof(CodedAccessUnit), sizeof(Frame), sizeof(HeldFrame), sizeof(Notifier),
                                 sizeof(PacketMemory), sizeof(core::PictureMeasure), sizeof(DeviceInfo)}) {
    text.append(" ").append(std::to_string(size));
  }
  return text + ")";
}

}  // namespace cu264::encoder::cuda
