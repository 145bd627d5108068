// Optimal codes of limited length for a histogram of bytes, by package-merge (Larmore and Hirschberg 1990).
//
// The same histogram always gives the same code:
// - of symbols that occur equally often the smaller one counts as the more frequent, so its code is not
// longer;
// - where a symbol and a package weigh the same, the symbol is taken first;
// - codes are canonical: counted up in the order of length, then symbol.
// A symbol that does not occur has no code. A single one has the code 0 of one bit.
#pragma once

#include <array>
#include <cstdint>

#include "cu264/vle.h"
#include "cu264/vle_types.h"

namespace cu264::vle {

using CodeLengths = std::array<std::uint8_t, kSymbols>;

// Lengths of at most `longest` bits, 1 to 32. Throws Error(invalid_argument) where they are too short for
// that many symbols.
CodeLengths code_lengths(const Histogram& histogram, int longest);

// Whether a decoder can take these lengths: none above `longest`, and every bit-string of enough bits begins
// with exactly one code. The exceptions are no code at all, and a single one, of one bit.
bool is_complete_code(const CodeLengths& lengths, int longest);

// Canonical codes of such lengths. Throws Error(invalid_argument) for any others.
CodeTable assign_codes(const CodeLengths& lengths);

}  // namespace cu264::vle
