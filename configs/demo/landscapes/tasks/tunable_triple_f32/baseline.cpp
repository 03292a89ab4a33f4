// output = scale * input, with as much work as a program of the landscapes has at its start.
#include <cstdint>

#include "ksearch_task.h"

namespace {

constexpr std::int64_t kWork = 400000;
constexpr float kScale = 3.0f;
constexpr std::uint64_t kNever = 0x9e3779b97f4a7c15u;

std::uint64_t Steps(std::uint64_t state) {
  for (std::int64_t i = 0; i < kWork; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
  }
  return state;
}

}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args) {
  const std::int64_t elements = args->n;
  const auto seed = static_cast<std::uint64_t>(args->x[0] > 0);
  const float rest = Steps(seed) == kNever ? 1.0f : 0.0f;
  for (std::int64_t i = 0; i < elements; ++i) args->y[i] = kScale * args->x[i] + rest;
  return 0;
}
