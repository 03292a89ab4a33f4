#include "gpu_worker/verifier/tensors/recipes/recorded_inputs.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/mapped_file.h"

namespace ksearch {
namespace {

// The same values in every variant.
class RecordedGenerator final : public InputGenerator {
 public:
  // `owner` keeps `values`, which are not copied.
  RecordedGenerator(std::shared_ptr<const void> owner, absl::string_view values)
      : owner_(std::move(owner)), values_(values) {}

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
  const std::shared_ptr<const void> owner_;
  const absl::string_view values_;
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
  if (!is_blob) {
    const auto values = std::make_shared<const std::string>(recipe.values());
    return std::make_unique<RecordedGenerator>(values, *values);
  }
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
  return std::make_unique<RecordedGenerator>(*file, (*file)->bytes());
}

}  // namespace ksearch
