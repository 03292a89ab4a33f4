#ifndef KSEARCH_GPU_WORKER_VERIFIER_TENSORS_WINDOW_MIX_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TENSORS_WINDOW_MIX_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace ksearch {

// Makes any number of variants of a tensor from one pool of random elements, at the cost of a copy.
// A variant mixes two windows of the pool, at offsets derived from a key and the variant's number.
// The window or the sign is drawn for each element of each variant, so that a program that knows
// the pool, and every sum over it, must still read all elements. Immutable, so thread-safe.
class WindowMix {
 public:
  enum class Rule {
    // Each element comes from one window or the other. Correct for any distribution and type, since
    // every element of a variant is an element of the pool: for elements of which there are few.
    // Unless a row has more than one element, neighbors in a variant are none in the pool: a
    // program that keeps answers to pairs of elements finds few of them again.
    kSelect,
    // The pool holds uniform 32-bit words. x + y or x - y, drawn for each element, is such a word
    // again, and `make_elements` makes the element of it: one that no variant before had.
    kAdd,
    // float32, a x + s b y with a² + b² = 1 and s = ±1 drawn for each element: the mix of normal
    // variates around 0 is normal, of the same variance.
    kRoot,
    // The same with a + b = 1: what Cauchy variates around 0 need.
    kSum,
  };
  struct Options {
    Rule rule = Rule::kSelect;
    int64_t elements = 0;  // of a variant
    int64_t element_bytes = 0;
    int64_t row = 1;  // windows begin at multiples of it
    // kAdd: makes `count` elements of as many words.
    std::function<void(const uint32_t* words, int64_t count, std::byte* out)> make_elements;
    // kRoot and kSum: added to every element.
    float offset = 0;
    // All but kSelect, for float32: added to the elements of columns
    // [raise_first, raise_first + raise_count) of a row.
    float raise = 0;
    int64_t raise_first = 0;
    int64_t raise_count = 0;
    uint64_t key = 0;
  };

  // `pool` holds whole rows, at least `elements` elements.
  WindowMix(std::vector<std::byte> pool, const Options& options);

  void Write(int64_t variant, std::byte* out) const;
  // Returns true if the bytes at `memory` equal what Write would write.
  bool Matches(int64_t variant, const std::byte* memory) const;

 private:
  // The number of elements that share 64 random bytes, one bit each.
  static constexpr int64_t kBlock = 512;

  // How one variant is mixed.
  struct Plan {
    const std::byte* first = nullptr;
    const std::byte* second = nullptr;
    float first_weight = 1;
    float second_weight = 0;
    uint64_t bits_key = 0;
    // kSelect: from the pool's element for one element to that for the next, within a block.
    uint32_t first_step = 1;
    uint32_t second_step = 1;
  };
  Plan PlanOf(int64_t variant) const;
  int64_t PoolElementBytes() const;
  // Elements [block * kBlock, + count) of a variant.
  void WriteBlock(const Plan& plan, int64_t block, int64_t count, std::byte* out) const;

  const std::vector<std::byte> pool_;
  const Options options_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TENSORS_WINDOW_MIX_H_
