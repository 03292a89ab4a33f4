#include "gpu_worker/verifier/tensors/made_inputs.h"

#include <cstring>
#include <utility>
#include <vector>

#include "common/log.h"
#include "common/rng.h"
#include "gpu_worker/verifier/tensors/buffer_sets.h"

namespace ksearch {
namespace {

class MadeGenerator final : public InputGenerator {
 public:
  MadeGenerator(std::shared_ptr<MadeVariants> variants, size_t index, int64_t bytes)
      : variants_(std::move(variants)), index_(index), bytes_(bytes) {}

  int64_t bytes() const override { return bytes_; }
  int64_t pool_bytes() const override { return 0; }
  bool made() const override { return true; }
  bool repeats() const override { return variants_->repeats(); }
  // Keeps the variant until another one is requested.
  void Make(int64_t variant) const override {
    if (bytes_ > 0) variants_->Get(variant);
  }
  void Write(int64_t variant, std::byte* out) const override {
    if (bytes_ == 0) return;
    if (const absl::Status read = variants_->Get(variant)->Read(index_, out); !read.ok()) {
      // The device has failed, and nothing counts then.
      LOG(WARNING) << "msg=\"made inputs cannot be read\" error=\"" << read.message() << "\"";
      std::memset(out, 0, static_cast<size_t>(bytes_));
    }
  }
  OnDevice MadeOnDevice(int64_t variant) const override {
    if (bytes_ == 0) return {};
    std::shared_ptr<const MadeVariant> made = variants_->Get(variant);
    const uint64_t address = made->on_device(index_);
    return {std::move(made), address};
  }
  bool Matches(int64_t variant, const std::byte* memory) const override {
    if (bytes_ == 0) return true;
    const std::shared_ptr<const MadeVariant> made = variants_->Get(variant);
    const auto bytes = static_cast<size_t>(bytes_);
    if (const std::byte* const there = made->on_host(index_)) {
      return std::memcmp(memory, there, bytes) == 0;
    }
    std::vector<std::byte> read(bytes);
    return !made->Read(index_, read.data()).ok() || std::memcmp(memory, read.data(), bytes) == 0;
  }

 private:
  const std::shared_ptr<MadeVariants> variants_;
  const size_t index_;
  const int64_t bytes_;
};

class SeedGenerator final : public InputGenerator {
 public:
  SeedGenerator(uint64_t key, int64_t first) : key_(key), first_(first) {}

  int64_t bytes() const override { return sizeof(int64_t); }
  int64_t pool_bytes() const override { return 0; }
  void Write(int64_t variant, std::byte* out) const override {
    Rng rng(key_, static_cast<uint64_t>(variant) << 3);
    const int64_t seed = first_ + static_cast<int64_t>(rng.Next() >> 32);
    std::memcpy(out, &seed, sizeof seed);
  }

 private:
  const uint64_t key_;
  const int64_t first_;
};

}  // namespace

std::unique_ptr<InputGenerator> MakeMadeGenerator(std::shared_ptr<MadeVariants> variants,
                                                  size_t index, int64_t bytes) {
  return std::make_unique<MadeGenerator>(std::move(variants), index, bytes);
}

std::unique_ptr<InputGenerator> MakeSeedGenerator(uint64_t key, int64_t first) {
  return std::make_unique<SeedGenerator>(key, first);
}

}  // namespace ksearch
