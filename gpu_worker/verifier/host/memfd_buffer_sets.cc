#include "gpu_worker/verifier/host/memfd_buffer_sets.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/digest.h"
#include "common/status_macros.h"
#include "gpu_worker/verifier/host/host_late_inputs.h"
#include "gpu_worker/verifier/host/host_outputs.h"
#include "gpu_worker/verifier/tensors/map_packet.h"
#include "gpu_worker/verifier/tensors/poison.h"

namespace ksearch {
namespace {

constexpr int64_t kPageBytes = 4096;
// Descriptors a packet: well under SCM_MAX_FD (253) and the runner's limit of open files.
constexpr size_t kFdsPerPacket = 64;
// Remembered places of an output. If 5 % of it come late, 24 places miss all of them in 29 % of
// batches, 192 in one of 20,000; a confirmation has dozens of batches. All of a batch: as many as
// take some 10 us beside what the calls take.
constexpr int64_t kMostPlaces = 192;
constexpr int64_t kLeastPlaces = 24;
constexpr int64_t kPlacesOfBatch = 1024;
// Enough of each output to tell two calls apart.
constexpr int64_t kFingerprintBytes = 512;

// Calls f(address, bytes) for both guard bands.
template <typename F>
void ForGuards(std::byte* base, int64_t file_bytes, int64_t tensor_bytes, F f) {
  f(base, MemfdBufferSets::kGuardBytes);
  const int64_t end = MemfdBufferSets::kGuardBytes + tensor_bytes;
  f(base + end, file_bytes - end);
}

}  // namespace

absl::StatusOr<std::shared_ptr<BufferSets>> MemfdBufferSets::Create(
    std::shared_ptr<const WorkloadCase> workload, int sets) {
  auto made = std::shared_ptr<MemfdBufferSets>(new MemfdBufferSets(std::move(workload), sets));
  for (int set = 0; set < sets; ++set) {
    for (const TensorArgument& tensor : made->workload_->tensors()) {
      ASSIGN_OR_RETURN(
          Buffer buffer,
          MakeBuffer(absl::StrCat("buffer '", tensor.name, "' of set ", set),
                     (2 * kGuardBytes + tensor.bytes + kPageBytes - 1) / kPageBytes * kPageBytes));
      made->bytes_ += buffer.file_bytes;
      made->buffers_.push_back(std::move(buffer));
    }
  }
  ASSIGN_OR_RETURN(made->turns_, MakeBuffer("the turns of calls", CallTurns::kBytes));
  return std::shared_ptr<BufferSets>(std::move(made));
}

absl::StatusOr<MemfdBufferSets::Buffer> MemfdBufferSets::MakeBuffer(const std::string& name,
                                                                    int64_t bytes) {
  Buffer buffer;
  buffer.file_bytes = bytes;
  buffer.fd.Reset(::memfd_create("ksearch-tensor", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!buffer.fd.ok()) return ErrnoStatus(errno, "memfd_create");
  if (::ftruncate(buffer.fd.get(), bytes) != 0) {
    return ErrnoStatus(errno, absl::StrCat("size a buffer of ", bytes, " bytes"));
  }
  if (::fcntl(buffer.fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return ErrnoStatus(errno, "seal a buffer");
  }
  void* base = ::mmap(nullptr, static_cast<size_t>(bytes), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_POPULATE, buffer.fd.get(), 0);
  if (base == MAP_FAILED) {
    return absl::ResourceExhaustedError(absl::StrCat("no memory for ", name));
  }
  buffer.base = static_cast<std::byte*>(base);
  return buffer;
}

MemfdBufferSets::~MemfdBufferSets() {
  for (const Buffer& buffer : buffers_) {
    if (buffer.base != nullptr) ::munmap(buffer.base, static_cast<size_t>(buffer.file_bytes));
  }
  if (turns_.base != nullptr) ::munmap(turns_.base, static_cast<size_t>(turns_.file_bytes));
}

std::vector<MapPacket> MemfdBufferSets::Map(int sets) {
  const auto& tensors = workload_->tensors();
  const uint64_t salt = RandomUint64();
  std::vector<MapPacket> packets;
  for (int set = 0; set < sets; ++set) {
    for (size_t t = 0; t < tensors.size(); ++t) {
      const Buffer& memory = buffer(set, t);
      FillPoison(PoisonWord(tensors[t].dtype, salt), tensor_memory(set, t), tensors[t].bytes);
      ForGuards(memory.base, memory.file_bytes, tensors[t].bytes,
                [&](std::byte* band, int64_t bytes) { FillPoison(guard_word_, band, bytes); });
      if (packets.empty() || packets.back().fds.size() == kFdsPerPacket) {
        AddPacket(*workload_, sets, &packets).files = true;
      }
      AddMemory(memory.fd.get(), memory.file_bytes, &packets.back());
      AddTensor(tensors[t], set, kGuardBytes, &packets.back());
    }
  }
  // An earlier runner could have left a mark there.
  std::memset(turns_.base, 0, static_cast<size_t>(turns_.file_bytes));
  if (!packets.empty()) AddTurns(turns_.fd.get(), &packets.front());
  return packets;
}

void MemfdBufferSets::Prepare(const std::vector<FilledSet>& calls, uint64_t poison_salt) {
  const auto& tensors = workload_->tensors();
  remembered_.clear();
  for (const FilledSet& call : calls) {
    for (size_t t = 0; t < tensors.size(); ++t) {
      std::byte* const memory = tensor_memory(call.set, t);
      if (tensors[t].output) {
        FillPoison(PoisonWord(tensors[t].dtype, poison_salt), memory, tensors[t].bytes);
      } else {
        workload_->generator(static_cast<int>(t)).Write(call.variant, memory);
      }
    }
  }
}

std::vector<std::byte*> MemfdBufferSets::Inputs(int set) const {
  std::vector<std::byte*> inputs;
  for (int t = 0; t < workload_->inputs(); ++t) {
    inputs.push_back(tensor_memory(set, static_cast<size_t>(t)));
  }
  return inputs;
}

std::unique_ptr<LateInputs> MemfdBufferSets::Withhold(const FilledSet& call, Rng* rng) {
  return HostLateInputs::Withhold(*workload_, Inputs(call.set), rng);
}

std::unique_ptr<LateInputs> MemfdBufferSets::WithholdAll(const FilledSet& call,
                                                         const FilledSet& stand_in) {
  return HostLateInputs::WithholdAll(*workload_, Inputs(call.set), Inputs(stand_in.set));
}

std::vector<CallFindings> MemfdBufferSets::Collect(const std::vector<FilledSet>& calls,
                                                   uint64_t poison_salt) {
  std::vector<CallFindings> findings(calls.size());
  // Latest call first: a program that still works on it after "done" has had the least time.
  for (size_t i = calls.size(); i-- > 0;) {
    findings[i].unwritten = UnwrittenOutput(calls[i].set, poison_salt).value_or("");
  }
  for (size_t i = 0; i < calls.size(); ++i) {
    findings[i].broken_guard = BrokenGuard(calls[i].set).value_or("");
    findings[i].fingerprint = Fingerprint(calls[i].set);
  }
  return findings;
}

std::optional<std::string> MemfdBufferSets::FirstWritten(const std::vector<FilledSet>& calls,
                                                         uint64_t poison_salt) {
  const auto& tensors = workload_->tensors();
  for (const FilledSet& call : calls) {
    for (size_t t = static_cast<size_t>(workload_->inputs()); t < tensors.size(); ++t) {
      if (!IsAllPoison(PoisonWord(tensors[t].dtype, poison_salt), tensor_memory(call.set, t),
                       tensors[t].bytes)) {
        return tensors[t].name;
      }
    }
  }
  return std::nullopt;
}

void MemfdBufferSets::RememberPlaces(const std::vector<FilledSet>& calls, Rng* rng) {
  const auto& tensors = workload_->tensors();
  const auto inputs = static_cast<size_t>(workload_->inputs());
  const auto outputs = static_cast<int64_t>((tensors.size() - inputs) * calls.size());
  const int64_t places =
      std::clamp(kPlacesOfBatch / std::max<int64_t>(1, outputs), kLeastPlaces, kMostPlaces);
  // The latest call first, as in Collect.
  for (size_t i = calls.size(); i-- > 0;) {
    for (size_t t = inputs; t < tensors.size(); ++t) {
      if (tensors[t].bytes == 0) continue;
      const std::byte* const memory = tensor_memory(calls[i].set, t);
      for (int64_t k = 0; k < places; ++k) {
        const std::byte* const place =
            memory + rng->NextBelow(static_cast<uint64_t>(tensors[t].bytes));
        remembered_.push_back({t, place, *static_cast<const volatile std::byte*>(place)});
      }
    }
  }
}

std::optional<std::string> MemfdBufferSets::ChangedSinceRemembered() const {
  const auto changed = std::find_if(remembered_.begin(), remembered_.end(), [](const Seen& seen) {
    return *static_cast<const volatile std::byte*>(seen.place) != seen.value;
  });
  if (changed == remembered_.end()) return std::nullopt;
  return workload_->tensors()[changed->tensor].name;
}

void MemfdBufferSets::Wipe(const std::vector<FilledSet>& calls) {
  const auto& tensors = workload_->tensors();
  const uint64_t salt = RandomUint64();
  for (const FilledSet& call : calls) {
    for (size_t t = static_cast<size_t>(workload_->inputs()); t < tensors.size(); ++t) {
      FillPoison(PoisonWord(tensors[t].dtype, salt), tensor_memory(call.set, t), tensors[t].bytes);
    }
  }
}

std::optional<std::string> MemfdBufferSets::BrokenGuard(int set) const {
  const auto& tensors = workload_->tensors();
  for (size_t t = 0; t < tensors.size(); ++t) {
    const Buffer& memory = buffer(set, t);
    std::optional<int64_t> changed;  // from the tensor's first byte
    ForGuards(memory.base, memory.file_bytes, tensors[t].bytes,
              [&](std::byte* band, int64_t bytes) {
                if (IsAllPoison(guard_word_, band, bytes)) return;
                const auto* word = reinterpret_cast<const std::byte*>(&guard_word_);
                for (int64_t i = 0; i < bytes && !changed.has_value(); ++i) {
                  if (band[i] != word[i % 8]) changed = band + i - memory.base - kGuardBytes;
                }
              });
    if (!changed.has_value()) continue;
    return *changed < 0
               ? absl::StrCat("wrote ", -*changed, " bytes before '", tensors[t].name, "'")
               : absl::StrCat("wrote ", *changed - tensors[t].bytes, " bytes past the end of '",
                              tensors[t].name, "' (", tensors[t].bytes, " bytes long)");
  }
  return std::nullopt;
}

std::optional<std::string> MemfdBufferSets::ChangedInput(const FilledSet& call) const {
  for (int t = 0; t < workload_->inputs(); ++t) {
    if (!workload_->generator(t).Matches(call.variant,
                                         tensor_memory(call.set, static_cast<size_t>(t)))) {
      return workload_->tensors()[static_cast<size_t>(t)].name;
    }
  }
  return std::nullopt;
}

std::optional<std::string> MemfdBufferSets::UnwrittenOutput(int set, uint64_t poison_salt) const {
  const auto& tensors = workload_->tensors();
  for (size_t t = static_cast<size_t>(workload_->inputs()); t < tensors.size(); ++t) {
    if (ShowsPoison(tensors[t].dtype, PoisonWord(tensors[t].dtype, poison_salt),
                    tensor_memory(set, t), tensors[t].bytes)) {
      return tensors[t].name;
    }
  }
  return std::nullopt;
}

uint64_t MemfdBufferSets::Fingerprint(int set) const {
  const auto& tensors = workload_->tensors();
  size_t hash = 0;
  for (size_t t = static_cast<size_t>(workload_->inputs()); t < tensors.size(); ++t) {
    const auto bytes = static_cast<size_t>(std::min(tensors[t].bytes, kFingerprintBytes));
    hash = absl::HashOf(
        hash, absl::string_view(reinterpret_cast<const char*>(tensor_memory(set, t)), bytes));
  }
  return hash;
}

std::vector<TensorComparison> MemfdBufferSets::Compare(int set, const SavedOutputs& oracle) const {
  const auto& right = static_cast<const HostOutputs&>(oracle);
  const size_t inputs = static_cast<size_t>(workload_->inputs());
  std::vector<TensorComparison> comparisons;
  for (size_t t = inputs; t < workload_->tensors().size(); ++t) {
    comparisons.push_back(CompareTensor(*workload_, workload_->tensors()[t], tensor_memory(set, t),
                                        right.output(t - inputs).data()));
  }
  return comparisons;
}

absl::StatusOr<std::shared_ptr<const SavedOutputs>> MemfdBufferSets::Save(int set) const {
  const auto& tensors = workload_->tensors();
  std::vector<std::vector<std::byte>> outputs;
  for (size_t t = static_cast<size_t>(workload_->inputs()); t < tensors.size(); ++t) {
    const std::byte* memory = tensor_memory(set, t);
    outputs.emplace_back(memory, memory + tensors[t].bytes);
  }
  return std::make_shared<const HostOutputs>(std::move(outputs));
}

}  // namespace ksearch
