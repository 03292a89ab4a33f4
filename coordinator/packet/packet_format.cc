#include "coordinator/packet/packet_format.h"

#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace ksearch::packet {
namespace {

// The mantissa below 1000; `steps` becomes the number of divisions by 1000.
double Scaled(double number, int most_steps, int* steps) {
  *steps = 0;
  if (!std::isfinite(number)) return 0;
  while (std::abs(number) >= 999.5 && *steps < most_steps) {
    number /= 1000;
    ++*steps;
  }
  return number;
}

}  // namespace

std::string Clean(absl::string_view text, size_t max_bytes) {
  const bool cut = text.size() > max_bytes && max_bytes > 3;
  std::string clean(text.substr(0, cut ? max_bytes - 3 : max_bytes));
  for (char& c : clean) {
    if (!absl::ascii_isprint(static_cast<unsigned char>(c))) c = '?';
  }
  return cut ? clean + "..." : clean;
}

std::string Number(double number) {
  const double size = std::abs(number);
  if (size >= 99.95) return absl::StrFormat("%.0f", number);
  if (size >= 9.995) return absl::StrFormat("%.1f", number);
  return absl::StrFormat("%.2f", number);
}

std::string Count(double number) {
  static constexpr const char* kSteps[] = {"", "k", "M", "G", "T"};
  int steps = 0;
  const double scaled = Scaled(number, 4, &steps);
  if (steps == 0 && scaled == std::floor(scaled)) return absl::StrFormat("%.0f", scaled);
  return absl::StrCat(Number(scaled), kSteps[steps]);
}

std::string Bytes(double bytes, absl::string_view suffix) {
  static constexpr const char* kSteps[] = {"B", "kB", "MB", "GB", "TB"};
  int steps = 0;
  const double scaled = Scaled(bytes, 4, &steps);
  return absl::StrCat(steps == 0 ? absl::StrFormat("%.0f", scaled) : Number(scaled), " ",
                      kSteps[steps], suffix);
}

}  // namespace ksearch::packet
