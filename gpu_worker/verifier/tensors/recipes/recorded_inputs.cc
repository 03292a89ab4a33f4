#include "gpu_worker/verifier/tensors/recipes/recorded_inputs.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/mapped_file.h"

namespace ksearch {
namespace {

// The same values in every variant.
class RecordedGenerator final : public InputGenerator {
 public:
  explicit RecordedGenerator(std::string values) : values_(std::move(values)) {}

  int64_t bytes() const override { return static_cast<int64_t>(values_.size()); }
  int64_t pool_bytes() const override { return 0; }
  bool repeats() const override { return true; }
  void Write(int64_t /*variant*/, std::byte* out) const override {
    std::memcpy(out, values_.data(), values_.size());
  }
  bool Matches(int64_t /*variant*/, const std::byte* memory) const override {
    return std::memcmp(memory, values_.data(), values_.size()) == 0;
  }

 private:
  const std::string values_;
};

// The same of a blob's file, without a copy.
class MappedGenerator final : public InputGenerator {
 public:
  explicit MappedGenerator(std::shared_ptr<const MappedFile> file) : file_(std::move(file)) {}

  int64_t bytes() const override { return static_cast<int64_t>(file_->bytes().size()); }
  int64_t pool_bytes() const override { return 0; }
  bool repeats() const override { return true; }
  void Write(int64_t /*variant*/, std::byte* out) const override {
    std::memcpy(out, file_->bytes().data(), file_->bytes().size());
  }
  bool Matches(int64_t /*variant*/, const std::byte* memory) const override {
    return std::memcmp(memory, file_->bytes().data(), file_->bytes().size()) == 0;
  }

 private:
  const std::shared_ptr<const MappedFile> file_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<InputGenerator>> MakeRecordedInputs(const v1::RecordedRecipe& recipe,
                                                                   const ShapedInput& input,
                                                                   const BlobPaths& blobs) {
  const int64_t bytes = input.elements * input.element_bytes;
  const bool is_blob = !recipe.sha256().empty();
  const int64_t recorded = is_blob ? recipe.bytes() : static_cast<int64_t>(recipe.values().size());
  if (recorded != bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(recorded, " bytes are recorded, the tensor has ", bytes));
  }
  if (!is_blob) return std::make_unique<RecordedGenerator>(recipe.values());
  const auto path = blobs.find(recipe.sha256());
  if (path == blobs.end()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the blob ", recipe.sha256(), " is not on this worker"));
  }
  absl::StatusOr<std::shared_ptr<const MappedFile>> file = MappedFile::Open(path->second);
  if (file.ok() && static_cast<int64_t>((*file)->bytes().size()) != bytes) {
    file = absl::FailedPreconditionError(
        absl::StrCat("the blob has ", (*file)->bytes().size(), " bytes, not ", bytes));
  }
  if (!file.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the blob ", recipe.sha256(), ": ", file.status().message()));
  }
  return std::make_unique<MappedGenerator>(*std::move(file));
}

}  // namespace ksearch
