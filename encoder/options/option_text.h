// Values of options as text: how they are read, and the error for any fault in them.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "cu264/encoder.h"

namespace cu264::encoder {

struct OptionText {
  std::string_view name;  // of the option
  std::string_view text;

  [[noreturn]] void reject(const std::string& accepted) const;
};

// Parses the whole of `text` as a decimal number.
template <class Number>
bool parse_number(std::string_view text, Number& number) {
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const auto [stop, error] = std::from_chars(begin, end, number);
  return error == std::errc{} && stop == end;
}

// Parses "a<separator>b" as two numbers.
bool parse_pair(std::string_view text, char separator, int& first, int& second);

// These throw Error(invalid_argument), which says what is accepted.
int parse_whole(const OptionText& value, int low, int high);
double parse_real(const OptionText& value, double low, double high, const char* accepted);
std::int64_t parse_kilobits(const OptionText& value, std::int64_t most_bits, const char* unit);  // in bits
std::int64_t parse_bytes(const OptionText& value, std::int64_t most);
// A fraction in lowest terms. `zero`: whether 0 ("unspecified") is allowed.
Rational parse_ratio(const OptionText& value, char separator, bool zero, const char* accepted);
std::vector<int> parse_devices(const OptionText& value, int end);  // each below `end`, none twice

// The inverses.
std::string real_text(double value);
std::string kilobits_text(std::int64_t bits);
std::string ratio_text(Rational value, char separator);
std::string devices_text(const std::vector<int>& devices);

// Throw Error(invalid_argument) unless the condition holds, or the value is in the range.
void require(bool condition, const std::string& cause, const std::string& remedy);
void require_range(const char* name, std::int64_t value, std::int64_t low, std::int64_t high);

}  // namespace cu264::encoder
