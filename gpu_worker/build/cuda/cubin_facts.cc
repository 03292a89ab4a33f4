#include "gpu_worker/build/cuda/cubin_facts.h"

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "gpu_worker/build/cuda/kernel_name.h"

namespace ksearch {
namespace {

constexpr uint16_t kMachineCuda = 190;  // EM_CUDA
constexpr absl::string_view kCodePrefix = ".text.";
constexpr absl::string_view kSharedPrefix = ".nv.shared.";
constexpr absl::string_view kInfoSection = ".nv.info";
// An attribute in .nv.info: its form (a payload with its size follows) and the fact it states
// about the function whose symbol number the payload begins with.
constexpr uint8_t kFormSized = 4;
constexpr uint8_t kFrameSize = 0x11;
constexpr uint8_t kRegisterCount = 0x2F;
constexpr int64_t kMostBytes = int64_t{1} << 31;

// Reads values anywhere in untrusted bytes.
class Elf {
 public:
  explicit Elf(absl::string_view bytes) : bytes_(bytes) {
    const auto header = Read<Elf64_Ehdr>(0);
    if (!header.has_value() || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
        header->e_machine != kMachineCuda || header->e_shentsize != sizeof(Elf64_Shdr)) {
      return;
    }
    for (uint64_t i = 0; i < header->e_shnum; ++i) {
      const auto section = Read<Elf64_Shdr>(header->e_shoff + i * sizeof(Elf64_Shdr));
      if (!section.has_value()) return;
      sections_.push_back(*section);
    }
    if (header->e_shstrndx < sections_.size()) names_ = Contents(sections_[header->e_shstrndx]);
  }

  const std::vector<Elf64_Shdr>& sections() const { return sections_; }
  absl::string_view Name(const Elf64_Shdr& section) const { return Text(names_, section.sh_name); }
  absl::string_view Contents(const Elf64_Shdr& section) const {
    if (section.sh_type == SHT_NOBITS || section.sh_offset > bytes_.size()) return "";
    return bytes_.substr(section.sh_offset, section.sh_size);
  }
  // The name of symbol number `index`; empty if there is none.
  absl::string_view Symbol(uint32_t index) const {
    for (const Elf64_Shdr& section : sections_) {
      if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections_.size()) continue;
      const auto symbol = ReadIn<Elf64_Sym>(Contents(section), index * sizeof(Elf64_Sym));
      return symbol.has_value() ? Text(Contents(sections_[section.sh_link]), symbol->st_name) : "";
    }
    return "";
  }

  template <typename T>
  static std::optional<T> ReadIn(absl::string_view bytes, uint64_t at) {
    if (at > bytes.size() || bytes.size() - at < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
  }

 private:
  template <typename T>
  std::optional<T> Read(uint64_t at) const {
    return ReadIn<T>(bytes_, at);
  }
  static absl::string_view Text(absl::string_view table, uint64_t at) {
    if (at >= table.size()) return "";
    table.remove_prefix(at);
    return table.substr(0, table.find('\0'));
  }

  const absl::string_view bytes_;
  std::vector<Elf64_Shdr> sections_;
  absl::string_view names_;
};

struct Kernel {
  std::string symbol;
  v1::KernelFacts facts;
};

void ReadAttributes(const Elf& elf, absl::string_view info, std::vector<Kernel>* kernels) {
  // Form, attribute, and the payload's size or, in its place, a value of two bytes.
  for (uint64_t at = 0; at + 4 <= info.size();) {
    const auto form = static_cast<uint8_t>(info[at]);
    const auto attribute = static_cast<uint8_t>(info[at + 1]);
    const uint64_t payload = at + 4;
    const uint16_t size = form == kFormSized ? *Elf::ReadIn<uint16_t>(info, at + 2) : uint16_t{0};
    at = payload + size;
    if (attribute != kRegisterCount && attribute != kFrameSize) continue;
    const auto symbol = Elf::ReadIn<uint32_t>(info, payload);
    const auto value = Elf::ReadIn<uint32_t>(info, payload + 4);
    if (size < 8 || !symbol.has_value() || !value.has_value()) continue;
    const absl::string_view name = elf.Symbol(*symbol);
    for (Kernel& kernel : *kernels) {
      if (kernel.symbol != name) continue;
      if (attribute == kFrameSize) {
        kernel.facts.set_stack_bytes(std::min<int64_t>(*value, kMostBytes));
      } else {
        kernel.facts.set_registers(static_cast<int32_t>(std::min<uint32_t>(*value, UINT16_MAX)));
      }
    }
  }
}

}  // namespace

std::vector<v1::KernelFacts> ReadCubin(absl::string_view cubin) {
  const Elf elf(cubin);
  std::vector<Kernel> kernels;
  for (const Elf64_Shdr& section : elf.sections()) {
    absl::string_view name = elf.Name(section);
    if (!absl::ConsumePrefix(&name, kCodePrefix) || name.empty()) continue;
    if (kernels.size() == kMaxCubinKernels) break;
    Kernel kernel;
    kernel.symbol = std::string(name);
    kernel.facts.set_name(KernelName(name));
    kernels.push_back(std::move(kernel));
  }
  for (const Elf64_Shdr& section : elf.sections()) {
    absl::string_view name = elf.Name(section);
    if (name == kInfoSection) ReadAttributes(elf, elf.Contents(section), &kernels);
    if (!absl::ConsumePrefix(&name, kSharedPrefix)) continue;
    for (Kernel& kernel : kernels) {
      if (kernel.symbol != name) continue;
      kernel.facts.set_static_shared_bytes(
          static_cast<int64_t>(std::min<uint64_t>(section.sh_size, kMostBytes)));
    }
  }
  std::vector<v1::KernelFacts> facts;
  for (Kernel& kernel : kernels) facts.push_back(std::move(kernel.facts));
  return facts;
}

}  // namespace ksearch
