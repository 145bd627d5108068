#include "encoder/options/option_text.h"

#include <algorithm>
#include <cmath>

#include "encoder/config.h"

namespace cu264::encoder {
namespace {

// Parses "29.97" as 2997/100.
bool parse_decimal(std::string_view text, Rational& value) {
  const std::size_t point = text.find('.');
  if (point == std::string_view::npos) return false;
  const std::size_t decimals = text.size() - point - 1;
  if (decimals < 1 || decimals > 6) return false;
  std::string digits(text.substr(0, point));
  value.den = 1;
  for (const char digit : text.substr(point + 1)) digits += digit, value.den *= 10;
  return parse_number(digits, value.num);
}

}  // namespace

void OptionText::reject(const std::string& accepted) const {
  throw Error(ErrorCode::invalid_argument, "bad " + std::string(name) + " \"" + std::string(text) + "\"",
              "use " + accepted);
}

bool parse_pair(std::string_view text, char separator, int& first, int& second) {
  const std::size_t at = text.find(separator);
  return at != std::string_view::npos && parse_number(text.substr(0, at), first) &&
         parse_number(text.substr(at + 1), second);
}

int parse_whole(const OptionText& value, int low, int high) {
  int number = 0;
  if (!parse_number(value.text, number) || number < low || number > high) {
    value.reject("a whole number from " + std::to_string(low) + " to " + std::to_string(high));
  }
  return number;
}

double parse_real(const OptionText& value, double low, double high, const char* accepted) {
  double number = 0;
  const bool allowed = parse_number(value.text, number) && number >= low && number <= high;  // not for NaN
  if (!allowed) value.reject(accepted);
  return number;
}

std::int64_t parse_kilobits(const OptionText& value, std::int64_t most_bits, const char* unit) {
  const auto most = static_cast<double>(most_bits / 1000);
  const std::string accepted =
      "a number of " + std::string(unit) + " up to " + std::to_string(most_bits / 1000) + ", or 0 for none";
  return std::llround(1000 * parse_real(value, 0, most, accepted.c_str()));
}

std::int64_t parse_bytes(const OptionText& value, std::int64_t most) {
  std::int64_t number = 0;
  if (!parse_number(value.text, number) || number < 0 || number > most)
    value.reject("a whole number of bytes up to " + std::to_string(most) + ", or 0 for no limit");
  return number;
}

Rational parse_ratio(const OptionText& value, char separator, bool zero, const char* accepted) {
  Rational r;
  const bool read = parse_pair(value.text, separator, r.num, r.den) || parse_number(value.text, r.num) ||
                    (separator == '/' && parse_decimal(value.text, r));
  if (!read || r.den <= 0 || r.num < 0 || (r.num == 0 && !zero)) value.reject(accepted);
  return reduced(r);
}

std::vector<int> parse_devices(const OptionText& value, int end) {
  std::vector<int> devices;
  std::string_view rest = value.text;
  while (true) {
    const std::size_t comma = rest.find(',');
    int device = 0;
    const bool read = parse_number(rest.substr(0, comma), device);
    const bool known = std::find(devices.begin(), devices.end(), device) != devices.end();
    if (!read || device < 0 || device >= end || known)
      value.reject("the devices' numbers from 0 to " + std::to_string(end - 1) + ", each once, as 0 or 0,1");
    devices.push_back(device);
    if (comma == std::string_view::npos) return devices;
    rest.remove_prefix(comma + 1);
  }
}

std::string real_text(double value) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, value).ptr};
}

std::string kilobits_text(std::int64_t bits) {
  std::string text = std::to_string(bits / 1000);
  if (const std::int64_t rest = bits % 1000; rest != 0)
    text.append(".").append(std::to_string(1000 + rest), 1);
  return text;
}

std::string ratio_text(Rational value, char separator) {
  const Rational r = reduced(value);
  return std::to_string(r.num) + (r.den == 1 || r.num == 0 ? "" : separator + std::to_string(r.den));
}

std::string devices_text(const std::vector<int>& devices) {
  std::string text;
  for (const int device : devices) text.append(text.empty() ? "" : ",").append(std::to_string(device));
  return text;
}

void require(bool condition, const std::string& cause, const std::string& remedy) {
  if (!condition) throw Error(ErrorCode::invalid_argument, cause, remedy);
}

void require_range(const char* name, std::int64_t value, std::int64_t low, std::int64_t high) {
  require(value >= low && value <= high, std::string(name) + " " + std::to_string(value) + " is out of range",
          "use " + std::to_string(low) + " to " + std::to_string(high));
}

}  // namespace cu264::encoder
