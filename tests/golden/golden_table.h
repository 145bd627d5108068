// The table of hashes: a text file with a line "SHA-256 name" for each stream; '#' begins a comment.
#pragma once

#include <map>
#include <string>

namespace cu264::test {

using GoldenTable = std::map<std::string, std::string>;  // hash by name

// Throws std::runtime_error if the file cannot be read or a line is neither a hash nor a comment.
GoldenTable read_golden_table(const std::string& path);

// Writes the table sorted by name, under a heading that says how it is made.
void write_golden_table(const std::string& path, const GoldenTable& table);

}  // namespace cu264::test
