// The table of hashes: text, one line a stream, "SHA-256 name"; '#' begins a comment.
#pragma once

#include <map>
#include <string>

namespace cu264::test {

using GoldenTable = std::map<std::string, std::string>;  // hash by name

// Throws std::runtime_error if the file cannot be read or a line is neither.
GoldenTable read_golden_table(const std::string& path);

// Sorted by name, under a heading that says how it is made.
void write_golden_table(const std::string& path, const GoldenTable& table);

}  // namespace cu264::test
