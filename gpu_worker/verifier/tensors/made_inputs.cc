#include "gpu_worker/verifier/tensors/made_inputs.h"

#include <cstring>
#include <utility>

#include "common/rng.h"

namespace ksearch {
namespace {

class MadeGenerator final : public InputGenerator {
 public:
  MadeGenerator(std::shared_ptr<MadeVariants> variants, size_t index, int64_t bytes)
      : variants_(std::move(variants)), index_(index), bytes_(bytes) {}

  int64_t bytes() const override { return bytes_; }
  int64_t pool_bytes() const override { return 0; }
  // Keeps the variant until another one is requested.
  void Make(int64_t variant) const override {
    if (bytes_ > 0) variants_->Get(variant);
  }
  void Write(int64_t variant, std::byte* out) const override {
    if (bytes_ == 0) return;
    const std::shared_ptr<const MadeVariant> made = variants_->Get(variant);
    std::memcpy(out, (*made)[index_].data(), static_cast<size_t>(bytes_));
  }
  bool Matches(int64_t variant, const std::byte* memory) const override {
    if (bytes_ == 0) return true;
    const std::shared_ptr<const MadeVariant> made = variants_->Get(variant);
    return std::memcmp(memory, (*made)[index_].data(), static_cast<size_t>(bytes_)) == 0;
  }

 private:
  const std::shared_ptr<MadeVariants> variants_;
  const size_t index_;
  const int64_t bytes_;
};

class SeedGenerator final : public InputGenerator {
 public:
  explicit SeedGenerator(uint64_t key) : key_(key) {}

  int64_t bytes() const override { return sizeof(int64_t); }
  int64_t pool_bytes() const override { return 0; }
  void Write(int64_t variant, std::byte* out) const override {
    Rng rng(key_, static_cast<uint64_t>(variant) << 3);
    const auto seed = static_cast<int64_t>(rng.Next() >> 32);
    std::memcpy(out, &seed, sizeof seed);
  }
  bool Matches(int64_t variant, const std::byte* memory) const override {
    std::byte expected[sizeof(int64_t)];
    Write(variant, expected);
    return std::memcmp(memory, expected, sizeof expected) == 0;
  }

 private:
  const uint64_t key_;
};

}  // namespace

std::unique_ptr<InputGenerator> MakeMadeGenerator(std::shared_ptr<MadeVariants> variants,
                                                  size_t index, int64_t bytes) {
  return std::make_unique<MadeGenerator>(std::move(variants), index, bytes);
}

std::unique_ptr<InputGenerator> MakeSeedGenerator(uint64_t key) {
  return std::make_unique<SeedGenerator>(key);
}

}  // namespace ksearch
