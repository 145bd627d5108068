// Passes containers and bare streams through remux and the stream tools, as cu264 protect and hide do. The
// result is another file of the same kind, or an Error.
//
// The input is a byte that chooses the tool and the output's container, followed by the file.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cu264/protect.h"
#include "io/av.h"
#include "io/output_file.h"
#include "io/remux.h"
#include "tests/fuzz/memory_file.h"

namespace {

using cu264::fuzz::require;

// The folder of the outputs. None of them is finished, so none is left.
const std::string& folder() {
  static const std::string path = [] {
    std::string name = (std::filesystem::temp_directory_path() / "cu264-fuzz-XXXXXX").string();
    require(mkdtemp(name.data()) != nullptr);
    return name;
  }();
  return path;
}

std::unique_ptr<cu264::StreamTool> make_tool(int which) {
  static const std::vector<std::uint8_t> bytes(cu264::ProtectionKey::kBytes, 42);
  const cu264::ProtectionKey key{std::span<const std::uint8_t, cu264::ProtectionKey::kBytes>(bytes)};
  switch (which) {
    case 0:
      return cu264::make_encryptor(key, {cu264::encryption_strength(3), true});
    case 1:
      return cu264::make_encryptor(key, {cu264::encryption_strength(1), false});
    case 2:
      return cu264::make_decryptor(key);
    default:
      return cu264::make_hidden_reader(key);
  }
}

void rewrite(const std::string& input, int which, const char* extension) {
  const auto tool = make_tool(which);
  const cu264::io::StreamEdit edit = {
      [&](std::span<const std::uint8_t> stream) { tool->parameter_sets(stream); },
      [&](std::span<const std::uint8_t> stream) { return tool->access_units(stream); },
      [&] { return tool->last_units(); }};
  const std::string name = folder() + "/out" + extension;
  std::vector<std::string> notes;
  cu264::io::OutputFile output(name);
  cu264::io::remux(input, edit, which == 3 ? nullptr : &output, name, notes);
  tool->finish();
  for (const std::string& note : notes) require(!note.empty());
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  cu264::io::set_up_av();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  static constexpr const char* kExtensions[] = {".mp4", ".mkv", ".ts", ".264"};
  const cu264::fuzz::MemoryFile file(data + 1, size - 1);
  try {
    rewrite(file.path(), data[0] % 4, kExtensions[data[0] / 4 % 4]);
  } catch (const cu264::Error& error) {
    require(error.what()[0] != '\0');
  }
  require(std::filesystem::is_empty(folder()));
  return 0;
}
