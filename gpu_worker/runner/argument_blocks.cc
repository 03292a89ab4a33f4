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

bool ArgumentBlocks::Fits(const v1::MapRequest& request, size_t fds, std::string* error) const {
  if (fds != static_cast<size_t>(request.memory_bytes_size())) {
    *error = "descriptors and pieces of memory differ in number";
    return false;
  }
  for (const v1::MappedBuffer& buffer : request.buffers()) {
    if (buffer.set() < 0 || buffer.set() >= sets() || buffer.slot() < 0 ||
        buffer.slot() + 2 >= static_cast<int>(blank_.size())) {
      *error = "a buffer of an unknown set or slot";
      return false;
    }
    if (buffer.memory() < 0 || buffer.memory() >= request.memory_bytes_size() ||
        buffer.offset() < 0 || buffer.tensor_bytes() < 0 ||
        buffer.offset() > request.memory_bytes(buffer.memory()) ||
        buffer.tensor_bytes() > request.memory_bytes(buffer.memory()) - buffer.offset()) {
      *error = "a tensor beyond its memory";
      return false;
    }
  }
  return true;
}

void ArgumentBlocks::SetBuffer(const v1::MappedBuffer& buffer, uint64_t address) {
  blocks_[static_cast<size_t>(buffer.set())][static_cast<size_t>(buffer.slot())] = address;
  if (buffer.output() || buffer.tensor_bytes() <= 0) return;
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
