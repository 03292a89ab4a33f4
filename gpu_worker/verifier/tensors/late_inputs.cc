#include "gpu_worker/verifier/tensors/late_inputs.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "gpu_worker/verifier/tensors/element.h"

namespace ksearch {
namespace {

// The part of a tensor that comes late: small enough that a program that samples the tensor misses
// it, large enough to change the answer.
constexpr double kMostOfTensor = 1.0 / 16;
constexpr double kLeastOfTensor = 1.0 / 512;
constexpr double kLeastElements = 4;

}  // namespace

std::vector<LatePart> DrawLateParts(const WorkloadCase& workload, Rng* rng) {
  std::vector<size_t> able;
  for (int t = 0; t < workload.inputs(); ++t) {
    const TensorArgument& tensor = workload.tensors()[static_cast<size_t>(t)];
    if (workload.generator(t).random() != nullptr && IsFloating(tensor.dtype) &&
        tensor.elements >= 2) {
      able.push_back(static_cast<size_t>(t));
    }
  }
  std::vector<LatePart> parts;
  if (able.empty()) return parts;
  const size_t certain = able[static_cast<size_t>(rng->NextBelow(able.size()))];
  for (const size_t t : able) {
    if (t != certain && rng->NextBelow(2) == 0) continue;
    const TensorArgument& tensor = workload.tensors()[t];
    const int64_t element_bytes = tensor.bytes / tensor.elements;
    const double share =
        kLeastOfTensor * std::pow(kMostOfTensor / kLeastOfTensor, rng->NextDouble());
    const int64_t count =
        std::clamp<int64_t>(static_cast<int64_t>(std::max(
                                kLeastElements, share * static_cast<double>(tensor.elements))),
                            1, tensor.elements / 2);
    const auto below = [rng](int64_t bound) {
      return static_cast<int64_t>(rng->NextBelow(static_cast<uint64_t>(bound)));
    };
    int64_t one = below(tensor.elements - 2 * count + 1);
    int64_t other = one + count + below(tensor.elements - one - 2 * count + 1);
    if (rng->NextBelow(2) == 0) std::swap(one, other);
    parts.push_back({t, one * element_bytes, other * element_bytes, count * element_bytes});
  }
  return parts;
}

}  // namespace ksearch
