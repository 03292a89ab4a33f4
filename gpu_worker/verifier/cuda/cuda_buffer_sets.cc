#include "gpu_worker/verifier/cuda/cuda_buffer_sets.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/digest.h"
#include "common/status_macros.h"
#include "gpu_worker/verifier/cuda/device_late_inputs.h"
#include "gpu_worker/verifier/harness_constants.h"
#include "gpu_worker/verifier/tensors/element.h"
#include "gpu_worker/verifier/tensors/map_packet.h"
#include "gpu_worker/verifier/tensors/poison.h"

namespace ksearch {
namespace {

// The sets of a group, and as many tensors in all as one MAP packet names without being long.
constexpr int kMaxSetsOfGroup = 32;
constexpr int kMaxTensorsOfGroup = 1024;
// Little enough that looking takes no longer than the copy's way to the host.
constexpr int64_t kPendingWindowBytes = 512;
static_assert(kMaxSets <= device::kMaxCalls && kMaxConfirmDeviceSets <= device::kMaxCalls);
static_assert(kMostDeviceOutputs == device::kMaxOutputs);

using Kernel = VerifierDevice::Kernel;

device::DrawRow DrawRowOf(const WorkloadCase& workload, int input) {
  const TensorArgument& tensor = workload.tensors()[static_cast<size_t>(input)];
  device::DrawRow row = {};
  row.kind = DeviceKind(tensor.dtype);
  row.elements = tensor.elements;
  if (!workload.DrawnOnDevice(input)) return row;
  const RandomDraw* const draw = workload.generator(input).random();
  const v1::RandomRecipe& recipe = draw->recipe;
  row.drawn = 1;
  row.key = draw->key;
  row.tails = static_cast<int32_t>(recipe.distribution());
  row.scale = recipe.scale() == 0 ? 1.0f : static_cast<float>(recipe.scale());
  row.offset = static_cast<float>(recipe.offset());
  const double probability = recipe.probability() == 0 ? 0.5 : recipe.probability();
  row.true_from = static_cast<uint64_t>((1 - probability) * 0x1.0p32);
  row.row = draw->row;
  row.raise = static_cast<float>(recipe.raise());
  row.raise_first = recipe.raise_first();
  row.raise_count = recipe.raise_count();
  const IntegerRange integers = IntegersOf(tensor.dtype, recipe);
  row.least = integers.least;
  row.span = integers.span;
  row.islands = draw->islands;
  return row;
}

// Work for a kernel that handles 16 bytes a thread and turn.
int64_t Chunks(int64_t bytes) { return (bytes + 15) / 16; }

}  // namespace

absl::StatusOr<std::shared_ptr<BufferSets>> CudaBufferSets::Create(
    std::shared_ptr<VerifierDevice> device, std::shared_ptr<const WorkloadCase> workload,
    int sets) {
  RETURN_IF_ERROR(device->health());
  if (sets > device::kMaxCalls) {
    return absl::InvalidArgumentError(
        absl::StrCat(sets, " buffer sets; at most ", device::kMaxCalls, " are possible"));
  }
  if (workload->outputs() > device::kMaxOutputs) {
    return absl::InvalidArgumentError(absl::StrCat("workload ", workload->uuid(), " has more than ",
                                                   device::kMaxOutputs, " outputs"));
  }
  auto made = std::shared_ptr<CudaBufferSets>(
      new CudaBufferSets(std::move(device), std::move(workload), sets));
  RETURN_IF_ERROR(made->Allocate());
  return std::shared_ptr<BufferSets>(std::move(made));
}

absl::Status CudaBufferSets::Allocate() {
  const DriverApi& api = device_->api();
  const int64_t granularity = device_->device().granularity();
  const auto& tensors = workload_->tensors();
  const auto inputs = static_cast<size_t>(workload_->inputs());
  ASSIGN_OR_RETURN(copies_, AllocateCudaBlock(api, std::max<int64_t>(sets_ * layout_.bytes, 1)));
  bytes_ = sets_ * layout_.bytes;
  for (const TensorArgument& tensor : tensors) {
    const int64_t wanted = 2 * kGuardBytes + tensor.bytes;
    area_offsets_.push_back(set_bytes_);
    area_bytes_.push_back((wanted + granularity - 1) / granularity * granularity);
    set_bytes_ += area_bytes_.back();
  }
  std::vector<device::TensorRow> rows;
  for (int set = 0; set < sets_; ++set) {
    if (groups_.empty() || set == EndOfGroup(set - 1)) {
      Group group;
      group.first = set;
      // A task may have neither inputs nor outputs of any size; an allocation has some.
      const int64_t bytes = std::max((EndOfGroup(set) - set) * set_bytes_, granularity);
      ASSIGN_OR_RETURN(group.memory, DeviceMemory::Create(api, device_->device().handle(), bytes));
      ASSIGN_OR_RETURN(group.fd, group.memory.Export());
      bytes_ += bytes;
      groups_.push_back(std::move(group));
    }
    const Group& group = groups_.back();
    set_addresses_.push_back(group.memory.address() +
                             static_cast<CUdeviceptr>((set - group.first) * set_bytes_));
    for (size_t t = 0; t < tensors.size(); ++t) {
      device::TensorRow row = {};
      row.mapping = set_addresses_.back() + static_cast<CUdeviceptr>(area_offsets_[t]);
      row.mapping_bytes = area_bytes_[t];
      row.address = row.mapping + kGuardBytes;
      row.bytes = tensors[t].bytes;
      if (t >= inputs) {
        row.copy = copy_address(set) + static_cast<uint64_t>(layout_.offsets[t - inputs]);
      }
      rows.push_back(row);
    }
  }
  const auto rows_bytes = static_cast<int64_t>(rows.size() * sizeof rows[0]);
  ASSIGN_OR_RETURN(rows_, AllocateCudaBlock(api, rows_bytes));
  ASSIGN_OR_RETURN(
      draws_, AllocateCudaBlock(api, static_cast<int64_t>((inputs + 1) * sizeof(device::DrawRow))));
  device_->ToDevice(rows_.get(), rows.data(), rows_bytes);
  tables_.tensors = reinterpret_cast<const device::TensorRow*>(rows_.get());
  tables_.draws = reinterpret_cast<const device::DrawRow*>(draws_.get());
  tables_.inputs = workload_->inputs();
  tables_.outputs = workload_->outputs();
  SetCase(workload_);
  return device_->health();
}

void CudaBufferSets::SetCase(std::shared_ptr<const WorkloadCase> workload) {
  workload_ = std::move(workload);
  std::vector<device::DrawRow> draws;
  for (int input = 0; input < workload_->inputs(); ++input) {
    draws.push_back(DrawRowOf(*workload_, input));
  }
  device_->ToDevice(draws_.get(), draws.data(),
                    static_cast<int64_t>(draws.size() * sizeof(device::DrawRow)));
}

std::vector<MapPacket> CudaBufferSets::Map(int sets) {
  const auto& tensors = workload_->tensors();
  // The runner sees whole groups.
  const int seen = EndOfGroup(sets - 1);
  std::vector<FilledSet> all;
  for (int set = 0; set < seen; ++set) all.push_back({set, 0});
  device::CallList list = List(all);
  uint64_t word = guard_word_;
  CUdeviceptr none = 0;
  device_->Launch(Kernel::kGuards, Chunks(device_->device().granularity()),
                  seen * static_cast<int>(tensors.size()), {&tables_, &list, &word, &none});
  Wipe(all);
  std::vector<MapPacket> packets;
  for (const Group& group : groups_) {
    if (group.first >= sets) break;
    MapPacket& packet = AddPacket(*workload_, sets, &packets);
    AddMemory(group.fd.get(), group.memory.bytes(), &packet);
    for (int set = group.first; set < std::min(sets, EndOfGroup(group.first)); ++set) {
      for (size_t t = 0; t < tensors.size(); ++t) {
        AddTensor(tensors[t], set,
                  (set - group.first) * set_bytes_ + area_offsets_[t] + kGuardBytes, &packet);
      }
    }
  }
  return packets;
}

int CudaBufferSets::EndOfGroup(int set) const {
  const int tensors = std::max(1, static_cast<int>(workload_->tensors().size()));
  const int most = std::clamp(kMaxTensorsOfGroup / tensors, 1, kMaxSetsOfGroup);
  int size = 1;
  int end = 1;
  while (end <= set) {
    end += size;
    size = std::min(2 * size, most);
  }
  return std::min(end, sets_);
}

void CudaBufferSets::Prepare(const std::vector<FilledSet>& calls, uint64_t poison_salt) {
  const auto& tensors = workload_->tensors();
  device::CallList list = List(calls);
  device::PoisonList poison = Poison(poison_salt);
  CUdeviceptr none = 0;
  device_->Launch(Kernel::kDraw, Chunks(LargestBytes(false)), list.count * tables_.inputs,
                  {&tables_, &list, &none});
  device_->Launch(Kernel::kPoison, Chunks(LargestBytes(true)), list.count * tables_.outputs,
                  {&tables_, &list, &poison});
  for (const FilledSet& call : calls) {
    for (int input = 0; input < workload_->inputs(); ++input) {
      if (workload_->DrawnOnDevice(input)) continue;
      const auto t = static_cast<size_t>(input);
      const InputGenerator& generator = workload_->generator(input);
      if (const auto made = generator.MadeOnDevice(call.variant); made.address != 0) {
        device_->CopyWithin(tensor_address(call.set, t), made.address, tensors[t].bytes);
        continue;
      }
      generator.Make(call.variant);
      device_->ToDevice(tensor_address(call.set, t), tensors[t].bytes,
                        [&](std::byte* out) { generator.Write(call.variant, out); });
    }
  }
  device_->ClearCache();
  device_->Synchronize();
}

std::unique_ptr<LateInputs> CudaBufferSets::Withhold(const FilledSet& call, Rng* rng) {
  return DeviceLateInputs::Withhold(
      device_, *workload_, [&](size_t tensor) { return tensor_address(call.set, tensor); }, rng);
}

bool CudaBufferSets::IsPending(int set, uint64_t poison_salt) const {
  const auto& tensors = workload_->tensors();
  Rng rng(poison_salt);
  for (size_t t = static_cast<size_t>(workload_->inputs()); t < tensors.size(); ++t) {
    const int64_t window = std::min(tensors[t].bytes, kPendingWindowBytes);
    const int64_t last = (tensors[t].bytes - window) / 8 * 8;
    // Most programs write the end last; a place that nobody knows is for those who do it first.
    const int64_t places[] = {
        last, static_cast<int64_t>(rng.NextBelow(static_cast<uint64_t>(last / 8 + 1))) * 8};
    for (const int64_t at : places) {
      const std::byte* const found =
          device_->FromDevice(tensor_address(set, t) + static_cast<CUdeviceptr>(at), window);
      if (found != nullptr &&
          ShowsPoison(tensors[t].dtype, PoisonWord(tensors[t].dtype, poison_salt), found, window)) {
        return true;
      }
    }
  }
  return false;
}

std::vector<CallFindings> CudaBufferSets::Collect(const std::vector<FilledSet>& calls,
                                                  uint64_t poison_salt) {
  const auto& tensors = workload_->tensors();
  std::vector<CallFindings> findings(calls.size());
  device::CallList list = List(calls);
  device::PoisonList poison = Poison(poison_salt);
  uint64_t word = guard_word_;
  const int64_t stride = device::FindingsOfACall(tables_.inputs, tables_.outputs);
  const int64_t count = stride * list.count;
  CUdeviceptr found = device_->FreshFindings(count);
  device_->Launch(Kernel::kCollect, Chunks(LargestBytes(true)), list.count * tables_.outputs,
                  {&tables_, &list, &poison, &found});
  device_->Launch(Kernel::kGuards, Chunks(device_->device().granularity()),
                  list.count * static_cast<int>(tensors.size()), {&tables_, &list, &word, &found});
  constexpr int kHashThreads = static_cast<int>(device::kFingerprintBytes / 8);
  device_->Launch(Kernel::kFingerprint, int64_t{kHashThreads} * list.count, 1,
                  {&tables_, &list, &found}, kHashThreads);
  const std::byte* const bytes = device_->FromDevice(found, count * 8);
  if (bytes == nullptr) return findings;
  for (size_t i = 0; i < calls.size(); ++i) {
    std::vector<uint64_t> values(static_cast<size_t>(stride));
    std::memcpy(values.data(), bytes + static_cast<int64_t>(i) * stride * 8,
                values.size() * sizeof values[0]);
    for (size_t t = 0; t < tensors.size() && findings[i].broken_guard.empty(); ++t) {
      if (values[t] == device::kNothing) continue;
      findings[i].broken_guard = DescribeGuard(t, static_cast<int64_t>(values[t]));
    }
    for (int output = 0; output < tables_.outputs && findings[i].unwritten.empty(); ++output) {
      const TensorArgument& tensor = tensors[static_cast<size_t>(tables_.inputs + output)];
      const bool nothing = values[tensors.size() + static_cast<size_t>(output)] == device::kNothing;
      // For a `whole` one the kernel searched for an element that is not poison.
      const bool unwritten = poison.whole[output] != 0 ? nothing && tensor.bytes >= 8 : !nothing;
      if (unwritten) findings[i].unwritten = tensor.name;
    }
    findings[i].fingerprint = values.back();
  }
  return findings;
}

std::optional<std::string> CudaBufferSets::FirstWritten(const std::vector<FilledSet>& calls,
                                                        uint64_t poison_salt) {
  const auto& tensors = workload_->tensors();
  device::CallList list = List(calls);
  device::PoisonList poison = Poison(poison_salt);
  // Looks for what is no poison, not for poison.
  for (int output = 0; output < tables_.outputs; ++output) poison.whole[output] = 1;
  const int64_t stride = device::FindingsOfACall(tables_.inputs, tables_.outputs);
  const int64_t count = stride * list.count;
  CUdeviceptr found = device_->FreshFindings(count);
  device_->Launch(Kernel::kCollect, Chunks(LargestBytes(true)), list.count * tables_.outputs,
                  {&tables_, &list, &poison, &found});
  const std::byte* const bytes = device_->FromDevice(found, count * 8);
  if (bytes == nullptr) return std::nullopt;
  for (size_t i = 0; i < calls.size(); ++i) {
    for (int output = 0; output < tables_.outputs; ++output) {
      const size_t tensor = static_cast<size_t>(tables_.inputs + output);
      uint64_t written = device::kNothing;
      std::memcpy(&written,
                  bytes + 8 * (static_cast<int64_t>(i) * stride +
                               static_cast<int64_t>(tensors.size()) + output),
                  sizeof written);
      if (written != device::kNothing) return tensors[tensor].name;
    }
  }
  return std::nullopt;
}

void CudaBufferSets::Wipe(const std::vector<FilledSet>& calls) {
  device::CallList list = List(calls);
  device::PoisonList poison = Poison(RandomUint64());
  device_->Launch(Kernel::kPoison, Chunks(LargestBytes(true)), list.count * tables_.outputs,
                  {&tables_, &list, &poison});
  device_->Synchronize();
}

std::optional<std::string> CudaBufferSets::ChangedInput(const FilledSet& call) const {
  const auto& tensors = workload_->tensors();
  const int inputs = workload_->inputs();
  if (inputs == 0) return std::nullopt;
  device::CallList list = List({call});
  device::Tables tables = tables_;
  CUdeviceptr found = device_->FreshFindings(inputs);
  device_->Launch(Kernel::kDraw, Chunks(LargestBytes(false)), inputs, {&tables, &list, &found});
  const std::byte* const bytes = device_->FromDevice(found, inputs * 8);
  if (bytes == nullptr) return std::nullopt;
  std::vector<uint64_t> changed(static_cast<size_t>(inputs));
  std::memcpy(changed.data(), bytes, changed.size() * sizeof changed[0]);
  for (int input = 0; input < inputs; ++input) {
    const auto t = static_cast<size_t>(input);
    if (workload_->DrawnOnDevice(input) || tensors[t].bytes == 0) {
      if (changed[t] != device::kNothing) return tensors[t].name;
      continue;
    }
    const InputGenerator& generator = workload_->generator(input);
    if (const auto made = generator.MadeOnDevice(call.variant); made.address != 0) {
      const bool same =
          device_->IsSame(tensor_address(call.set, t), made.address, tensors[t].bytes);
      if (!same && device_->health().ok()) return tensors[t].name;
      continue;
    }
    generator.Make(call.variant);
    const std::byte* const there =
        device_->FromDevice(tensor_address(call.set, t), tensors[t].bytes);
    if (there != nullptr && !generator.Matches(call.variant, there)) return tensors[t].name;
  }
  return std::nullopt;
}

std::vector<TensorComparison> CudaBufferSets::Compare(int set, const SavedOutputs& oracle) const {
  return static_cast<const DeviceOutputs&>(oracle).CompareAsOracle(*workload_, copy_address(set));
}

absl::StatusOr<std::shared_ptr<const SavedOutputs>> CudaBufferSets::Save(int set) const {
  return DeviceOutputs::Copy(device_, *workload_, copy_address(set));
}

device::CallList CudaBufferSets::List(const std::vector<FilledSet>& calls) const {
  device::CallList list = {};
  for (const FilledSet& call : calls) {
    list.set[list.count] = call.set;
    list.variant[list.count] = call.variant;
    ++list.count;
  }
  return list;
}

device::PoisonList CudaBufferSets::Poison(uint64_t salt) const {
  device::PoisonList list = {};
  for (int output = 0; output < tables_.outputs; ++output) {
    const TensorArgument& tensor =
        workload_->tensors()[static_cast<size_t>(tables_.inputs + output)];
    list.word[output] = PoisonWord(tensor.dtype, salt);
    list.element_bytes[output] =
        static_cast<int32_t>(tensor.elements == 0 ? 1 : tensor.bytes / tensor.elements);
    list.whole[output] = IsFloating(tensor.dtype) || tensor.dtype == v1::DTYPE_BOOL ? 0 : 1;
  }
  return list;
}

std::string CudaBufferSets::DescribeGuard(size_t tensor, int64_t position) const {
  const TensorArgument& argument = workload_->tensors()[tensor];
  const int64_t from_start = position - kGuardBytes;
  return from_start < 0
             ? absl::StrCat("wrote ", -from_start, " bytes before '", argument.name, "'")
             : absl::StrCat("wrote ", from_start - argument.bytes, " bytes past the end of '",
                            argument.name, "' (", argument.bytes, " bytes long)");
}

int64_t CudaBufferSets::LargestBytes(bool outputs) const {
  int64_t largest = 0;
  for (const TensorArgument& tensor : workload_->tensors()) {
    if (tensor.output == outputs) largest = std::max(largest, tensor.bytes);
  }
  return largest;
}

}  // namespace ksearch
