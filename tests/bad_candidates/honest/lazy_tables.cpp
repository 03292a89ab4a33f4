// Makes a table of 8 MiB in the first call, beside one of the compiler's making and 16 MiB of
// zeros.
#include <array>
#include <cmath>
#include <mutex>
#include <vector>

#include "matmul.h"
namespace {
constexpr std::array<uint32_t, 20000> kNumbers = [] {
  std::array<uint32_t, 20000> numbers{};
  uint32_t x = 1;
  for (uint32_t& number : numbers) {
    number = x;
    x = x * 1664525u + 1013904223u;
  }
  return numbers;
}();
float scratch[int64_t{4} << 20];
std::once_flag once;
std::vector<double> table;
}  // namespace
int ksearch_run(const KsearchArgs* args) {
  std::call_once(once, [] {
    table.resize(1 << 20);
    for (size_t i = 0; i < table.size(); ++i) table[i] = std::sin(static_cast<double>(i));
  });
  for (int64_t i = 0; i < args->k * args->n; ++i) scratch[i] = args->b[i];
  KsearchArgs copied = *args;
  copied.b = scratch;
  Matmul(&copied);
  // Neither holds, and no compiler knows.
  return table[static_cast<size_t>(args->m)] > 1 ||
                 kNumbers[static_cast<size_t>(args->n)] == static_cast<uint32_t>(args->k)
             ? 1
             : 0;
}
