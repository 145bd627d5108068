#include "tests/golden/golden_table.h"

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace cu264::test {

GoldenTable read_golden_table(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + " cannot be read");
  GoldenTable table;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string hash, name, more;
    if (!(words >> hash >> name) || words >> more || hash.size() != 64) {
      throw std::runtime_error(path + ": not \"SHA-256 name\": " + line);
    }
    if (!table.emplace(name, hash).second) throw std::runtime_error(path + ": twice: " + name);
  }
  return table;
}

void write_golden_table(const std::string& path, const GoldenTable& table) {
  std::ofstream file(path);
  file << "# SHA-256 of whole streams, the same for every backend, number of threads and machine.\n"
          "# Written by scripts/update-goldens, only in a commit that says why the streams change.\n";
  for (const auto& [name, hash] : table) file << hash << ' ' << name << '\n';
  file.flush();
  if (!file) throw std::runtime_error(path + " cannot be written");
}

}  // namespace cu264::test
