#include "gpu_worker/runner/argument_blocks.h"

#include <algorithm>
#include <cstring>

namespace ksearch {

bool ArgumentBlocks::Start(const v1::MapRequest& request, std::string* error) {
  blocks_.clear();
  blank_.clear();
  slots_.assign(request.slots().begin(), request.slots().end());
  for (const v1::ArgumentSlot& slot : slots_) {
    uint64_t value = 0;
    if (slot.value_case() == v1::ArgumentSlot::kIntValue) {
      value = static_cast<uint64_t>(slot.int_value());
    } else if (slot.value_case() == v1::ArgumentSlot::kFloatValue) {
      const double number = slot.float_value();
      std::memcpy(&value, &number, sizeof value);
    }
    blank_.push_back(value);
  }
  blank_.push_back(0);  // workspace
  blank_.push_back(0);  // workspace_bytes
  if (request.sets() < 1) {
    *error = "a MAP needs at least one buffer set";
    return false;
  }
  blocks_.assign(static_cast<size_t>(request.sets()), blank_);
  inputs_.assign(static_cast<size_t>(request.sets()), {});
  return true;
}

bool ArgumentBlocks::Knows(const v1::MappedBuffer& buffer) const {
  return buffer.set() >= 0 && buffer.set() < sets() && buffer.slot() >= 0 &&
         buffer.slot() + 2 < static_cast<int>(blank_.size());
}

void ArgumentBlocks::SetBuffer(const v1::MappedBuffer& buffer, uint64_t address) {
  blocks_[static_cast<size_t>(buffer.set())][static_cast<size_t>(buffer.slot())] = address;
  if (buffer.output() || buffer.tensor_bytes() <= 0 || buffer.offset() < 0 ||
      buffer.tensor_bytes() > buffer.file_bytes() - buffer.offset()) {
    return;
  }
  std::vector<Input>& inputs = inputs_[static_cast<size_t>(buffer.set())];
  const auto after = std::upper_bound(inputs.begin(), inputs.end(), buffer.slot(),
                                      [](int slot, const Input& each) { return slot < each.slot; });
  inputs.insert(after, {buffer.slot(), address, buffer.tensor_bytes()});
}

void ArgumentBlocks::SetWorkspace(uint64_t address, int64_t bytes) {
  for (std::vector<uint64_t>& block : blocks_) {
    block[block.size() - 2] = address;
    block[block.size() - 1] = static_cast<uint64_t>(bytes);
  }
}

bool ArgumentBlocks::Complete() const {
  for (const std::vector<uint64_t>& block : blocks_) {
    for (size_t i = 0; i < slots_.size(); ++i) {
      if (slots_[i].value_case() == v1::ArgumentSlot::kBuffer && block[i] == 0) return false;
    }
  }
  return !blocks_.empty();
}

}  // namespace ksearch
