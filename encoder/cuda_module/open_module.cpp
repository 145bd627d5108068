#include "encoder/cuda_module/open_module.h"

#include <dlfcn.h>
#include <elf.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <utility>

#include "cu264/status.h"
#include "encoder/cuda_module/build_identity.h"

namespace cu264::encoder::cuda {
namespace {

std::atomic<bool> asked_for = false;  // module() was called

struct Module {
  const ModuleTable* table = nullptr;
  std::string path;
  std::string fault, remedy;  // if there is no table
};

// The file of this name in the folder of the library that this code is in; nothing if there is none.
std::string module_beside_library() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&module_beside_library), &info) == 0 || info.dli_fname == nullptr)
    return {};
  const std::string library = info.dli_fname;
  const std::size_t slash = library.rfind('/');
  if (slash == std::string::npos) return {};
  std::string path = library.substr(0, slash + 1) + kModuleName;
  return access(path.c_str(), F_OK) == 0 ? path : std::string();
}

// The dynamic linker maps a file as its head describes it, and dies of one that ends too early. The table of
// sections comes last.
bool is_cut_off(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Elf64_Ehdr head{};
  if (!file.read(reinterpret_cast<char*>(&head), sizeof head))
    return false;  // it says why it cannot open that
  file.seekg(0, std::ios::end);
  return std::uint64_t{head.e_shoff} + std::uint64_t{head.e_shnum} * head.e_shentsize >
         static_cast<std::uint64_t>(file.tellg());
}

Module open_file(const std::string& path) {
  Module module;
  module.path = path;
  if (path.find('/') != std::string::npos && is_cut_off(path)) {
    module.fault = "the CUDA module cannot be opened: " + path + ": the file is damaged";
    module.remedy = "install it again, or use the cpu backend";
    return module;
  }
  // It stays as long as the process, because frames and packets may have functions of it. Its names are its
  // own.
  void* const file = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (file == nullptr) {
    const char* const why = dlerror();
    module.fault = "the CUDA module cannot be opened: " + std::string(why != nullptr ? why : path);
    module.remedy = "install the CUDA module of this version, or use the cpu backend";
    return module;
  }
  Dl_info info{};
  void* const entry = dlsym(file, kModuleEntry);
  if (entry == nullptr) {
    module.fault = path + " is no CUDA module of cu264";
    module.remedy = "name the module in CU264_CUDA_MODULE, or unset that";
    return module;
  }
  if (dladdr(entry, &info) != 0 && info.dli_fname != nullptr) module.path = info.dli_fname;
  const ModuleTable* const table = reinterpret_cast<ModuleEntry*>(entry)();
  if (const std::string own = build_identity(); own != table->build) {
    module.fault = "the CUDA module " + module.path + " is of another build, " + table->build +
                   "; this library is " + own;
    module.remedy = "install library and module of the same build, or use the cpu backend";
    return module;
  }
  module.table = table;
  return module;
}

Module find_and_open() {
  if (const char* const named = secure_getenv("CU264_CUDA_MODULE"); named != nullptr) {
    if (*named != 0) return open_file(named);
    return {nullptr,
            {},
            "CU264_CUDA_MODULE is empty, so no CUDA module is opened",
            "unset it, or use the cpu backend"};
  }
  if (const std::string path = module_beside_library(); !path.empty()) return open_file(path);
  Module module = open_file(kModuleName);
  if (module.table == nullptr && module.fault.find("No such file") != std::string::npos) {
    module.fault = std::string("there is no CUDA module here, ") + kModuleName;
    module.remedy = "install it, or use the cpu backend";
  }
  return module;
}

const Module& opened_module() {
  static const Module module = find_and_open();
  asked_for = true;
  return module;
}

}  // namespace

const ModuleTable& module() {
  const Module& opened = opened_module();
  if (opened.table == nullptr) throw Error(ErrorCode::device_unavailable, opened.fault, opened.remedy);
  return *opened.table;
}

std::string module_text() {
  const Module& opened = opened_module();
  if (opened.table == nullptr) return "no CUDA: " + opened.fault;
  return std::string(opened.table->cuda) + ", from " + opened.path;
}

// The functions of cuda_backend.h, in a library that has them from the module.
std::unique_ptr<Backend> open_device(const StreamParams& params, int device, int batch,
                                     std::shared_ptr<QpOffsetRelay> relay) {
  return module().open_device(params, device, batch, std::move(relay));
}

std::unique_ptr<Backend> open_devices(const StreamParams& params, const std::vector<int>& devices,
                                      int batch) {
  return module().open_devices(params, devices, batch);
}

std::unique_ptr<Analyser> make_device_analyser(const StreamParams& params, int device, int together,
                                               bool stays_on_host) {
  return module().make_device_analyser(params, device, together, stays_on_host);
}

std::unique_ptr<FrameHolder> make_device_frame_holder(int device) {
  return module().make_device_frame_holder(device);
}

int pictures_of_devices(const StreamParams& params, const std::vector<int>& devices) {
  return module().pictures_of_devices(params, devices);
}

int choose_batch(const StreamParams& params, const std::vector<int>& devices) {
  return module().choose_batch(params, devices);
}

MemoryRequirement memory_required(const StreamParams& params, const std::vector<int>& devices) {
  return module().memory_required(params, devices);
}

std::vector<DeviceInfo> list_devices() {
  return module().list_devices();
}

// A module that was never needed has cached nothing.
void release_cached_memory() {
  if (asked_for && opened_module().table != nullptr) module().release_cached_memory();
}

std::string device_name(int device) {
  return module().device_name(device);
}

std::string probed_device_name(int device) {
  return module().probed_device_name(device);
}

}  // namespace cu264::encoder::cuda
