// Optimal codes of limited length for a histogram of bytes, by package-merge (Larmore and Hirschberg 1990).
//
// The same histogram always gives the same code:
// - among symbols that occur equally often, the smaller one counts as the more frequent, so that its code is
//   not longer;
// - where a symbol and a package have the same weight, the symbol is taken first;
// - codes are canonical: they are assigned in ascending order by length, then by symbol.
// A symbol that does not occur has no code. If only one symbol occurs, it has the code 0 of one bit.
#pragma once

#include <array>
#include <cstdint>

#include "cu264/vle.h"
#include "cu264/vle_types.h"

namespace cu264::vle {

using CodeLengths = std::array<std::uint8_t, kSymbols>;

// Code lengths of at most `longest` bits, 1 to 32. Throws Error(invalid_argument) if that is too short for
// that many symbols.
CodeLengths code_lengths(const Histogram& histogram, int longest);

// Returns whether a decoder accepts these lengths: none is above `longest`, and every bit-string of enough
// bits begins with exactly one code. Two exceptions are accepted: no code at all, and a single code of one
// bit.
bool is_complete_code(const CodeLengths& lengths, int longest);

// The canonical codes of such lengths. Throws Error(invalid_argument) for any others.
CodeTable assign_codes(const CodeLengths& lengths);

}  // namespace cu264::vle
