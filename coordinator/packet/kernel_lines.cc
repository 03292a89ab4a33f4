#include "coordinator/packet/kernel_lines.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "coordinator/packet/packet_format.h"

namespace ksearch::packet {
namespace {

constexpr size_t kMaxNameBytes = 100;
constexpr int kMaxStalls = 3;

std::string LimitName(int limit) {
  switch (limit) {
    case v1::KernelProfile::BLOCKS:
      return "the SM's block slots";
    case v1::KernelProfile::REGISTERS:
      return "registers";
    case v1::KernelProfile::SHARED_MEMORY:
      return "shared memory";
    case v1::KernelProfile::WARPS:
      return "warps";
    case v1::KernelProfile::BARRIERS:
      return "barriers";
    default:
      return "an unknown limit";
  }
}

std::string ExtentText(const v1::GridExtent& extent) {
  std::string text = absl::StrCat(extent.x());
  if (extent.y() > 1 || extent.z() > 1) absl::StrAppend(&text, "x", extent.y());
  if (extent.z() > 1) absl::StrAppend(&text, "x", extent.z());
  return text;
}

std::string Percent(double percent) { return absl::StrFormat("%.0f %%", percent); }

// Joins parts, and skips empty ones.
class Parts {
 public:
  void Add(std::string part) {
    if (!part.empty()) parts_.push_back(std::move(part));
  }
  std::string Line(absl::string_view label) const {
    if (parts_.empty()) return "";
    return absl::StrCat("  ", label, ": ", absl::StrJoin(parts_, ", "));
  }

 private:
  std::vector<std::string> parts_;
};

std::string SpillText(const v1::KernelFacts& facts) {
  if (Spills(facts)) {
    return absl::StrCat("SPILLS ", facts.spill_store_bytes(), " bytes out and ",
                        facts.spill_load_bytes(), " in a thread");
  }
  if (facts.warps() > 0 && facts.stack_bytes() > 0) {
    return absl::StrCat("SPILLS into ", facts.stack_bytes(), " bytes of stack a thread");
  }
  // A stack without spills comes from arrays whose indices the compiler does not know.
  return facts.stack_bytes() > 0
             ? absl::StrCat("no spills, ", facts.stack_bytes(), " bytes of stack (local arrays)")
             : "no spills";
}

std::string HeadLine(const v1::KernelProfile& kernel) {
  std::string text = absl::StrCat(
      Clean(kernel.name(), kMaxNameBytes), ": ", Percent(100 * kernel.share()), " of the time, ",
      kernel.launches(), kernel.launches() == 1 ? " launch" : " launches", " of ",
      Number(kernel.duration_us()), " us");
  if (kernel.has_grid()) {
    absl::StrAppend(&text, ", grid ", ExtentText(kernel.grid()), ", block ",
                    ExtentText(kernel.block()));
  }
  if (kernel.has_cluster()) absl::StrAppend(&text, ", cluster ", ExtentText(kernel.cluster()));
  return text;
}

std::string ResourceLine(const v1::KernelProfile& kernel, const v1::KernelFacts* facts) {
  Parts parts;
  if (kernel.has_registers()) parts.Add(absl::StrCat(kernel.registers(), " registers a thread"));
  if (facts != nullptr) {
    parts.Add(SpillText(*facts));
  }
  if (kernel.has_static_shared_bytes() || kernel.has_dynamic_shared_bytes()) {
    parts.Add(absl::StrCat("shared memory ", kernel.static_shared_bytes(), " static + ",
                           kernel.dynamic_shared_bytes(), " dynamic bytes"));
  }
  if (kernel.has_blocks_per_sm()) {
    std::vector<std::string> limits;
    for (const int limit : kernel.block_limits()) limits.push_back(LimitName(limit));
    parts.Add(absl::StrCat(kernel.blocks_per_sm(), " blocks an SM, limited by ",
                           absl::StrJoin(limits, " and ")));
  }
  if (kernel.has_waves()) parts.Add(absl::StrCat(Number(kernel.waves()), " waves"));
  if (kernel.has_achieved_occupancy_percent()) {
    std::string occupancy =
        absl::StrCat("occupancy ", Percent(kernel.achieved_occupancy_percent()));
    if (kernel.has_theoretical_occupancy_percent()) {
      absl::StrAppend(&occupancy, " of ", Percent(kernel.theoretical_occupancy_percent()),
                      " possible");
    }
    parts.Add(std::move(occupancy));
  }
  return parts.Line("resources");
}

std::string SpeedOfLightLine(const v1::KernelProfile& kernel) {
  Parts parts;
  const auto add = [&parts](const char* name, bool has, double percent) {
    if (has) parts.Add(absl::StrCat(name, " ", Percent(percent)));
  };
  add("SM", kernel.has_sm_percent(), kernel.sm_percent());
  add("memory", kernel.has_memory_percent(), kernel.memory_percent());
  add("DRAM", kernel.has_dram_percent(), kernel.dram_percent());
  add("L2", kernel.has_l2_percent(), kernel.l2_percent());
  add("L1", kernel.has_l1_percent(), kernel.l1_percent());
  add("tensor pipe", kernel.has_tensor_percent(), kernel.tensor_percent());
  add("issue slots", kernel.has_issue_active_percent(), kernel.issue_active_percent());
  return parts.Line("of peak");
}

std::string StallLine(const v1::KernelProfile& kernel) {
  Parts parts;
  for (int i = 0; i < std::min(kernel.stalls_size(), kMaxStalls); ++i) {
    parts.Add(absl::StrCat(Clean(kernel.stalls(i).reason(), 40), " ",
                           Percent(100 * kernel.stalls(i).share())));
  }
  return parts.Line("warps wait for");
}

std::string MemoryLine(const v1::KernelProfile& kernel) {
  Parts parts;
  if (kernel.has_dram_read_bytes() || kernel.has_dram_written_bytes()) {
    std::string dram = absl::StrCat("DRAM ", Bytes(kernel.dram_read_bytes()), " read and ",
                                    Bytes(kernel.dram_written_bytes()), " written");
    if (kernel.has_dram_bytes_per_second()) {
      absl::StrAppend(&dram, " at ", Bytes(kernel.dram_bytes_per_second(), "/s"));
    }
    parts.Add(std::move(dram));
  }
  if (kernel.has_l1_hit_percent()) parts.Add("L1 hits " + Percent(kernel.l1_hit_percent()));
  if (kernel.has_l2_hit_percent()) parts.Add("L2 hits " + Percent(kernel.l2_hit_percent()));
  if (kernel.sectors_per_load() > 0) {
    parts.Add(Number(kernel.sectors_per_load()) + " sectors a global load");
  }
  // A little less than 32 is alignment at the edges; 0: there are none of these accesses.
  const auto coalescing = [&parts](const char* name, double used) {
    if (!(used > 0 && used < 31)) return;
    parts.Add(absl::StrCat("UNCOALESCED ", name, ": ", Number(used), " of 32 bytes a sector used"));
  };
  coalescing("loads", kernel.load_bytes_per_sector());
  coalescing("stores", kernel.store_bytes_per_sector());
  if (kernel.shared_wavefronts() > 0 &&
      kernel.bank_conflicts() > 0.01 * kernel.shared_wavefronts()) {
    parts.Add(absl::StrCat("bank conflicts ",
                           Percent(100 * kernel.bank_conflicts() / kernel.shared_wavefronts()),
                           " of ", Count(kernel.shared_wavefronts()), " shared wavefronts"));
  }
  if (kernel.has_threads_per_instruction() && kernel.threads_per_instruction() < 30) {
    parts.Add(absl::StrCat("DIVERGENT: ", Number(kernel.threads_per_instruction()),
                           " of 32 threads an instruction"));
  }
  return parts.Line("memory");
}

std::string CodeLine(const v1::SassFacts& sass) {
  std::string text =
      absl::StrCat("  code: ", sass.instructions(), " instructions: ", sass.tensor(), " matrix");
  if (sass.warpgroup_tensor() > 0) {
    absl::StrAppend(&text, " (", sass.warpgroup_tensor(), " of a warpgroup)");
  }
  absl::StrAppend(&text, ", ", sass.global_loads(), " global loads (", sass.wide_global_loads(),
                  " of 128 bits), ", sass.global_stores(), " stores (", sass.wide_global_stores(),
                  " of 128 bits)");
  if (sass.async_copies() > 0) absl::StrAppend(&text, ", ", sass.async_copies(), " cp.async");
  if (sass.bulk_copies() > 0) absl::StrAppend(&text, ", ", sass.bulk_copies(), " bulk or TMA");
  if (sass.matrix_loads() > 0) absl::StrAppend(&text, ", ", sass.matrix_loads(), " ldmatrix");
  const int64_t local = int64_t{sass.local_loads()} + sass.local_stores();
  if (local > 0) absl::StrAppend(&text, ", ", local, " of local memory (slow)");
  return text;
}

void AddLine(std::string line, std::vector<std::string>* lines) {
  if (!line.empty()) lines->push_back(std::move(line));
}

}  // namespace

const v1::KernelFacts* FactsOf(const v1::BuildReport& build, const std::string& name) {
  for (const v1::KernelFacts& kernel : build.kernels()) {
    if (kernel.name() == name) return &kernel;
  }
  return nullptr;
}

bool Spills(const v1::KernelFacts& kernel) {
  return kernel.spill_store_bytes() > 0 || kernel.spill_load_bytes() > 0;
}

std::vector<std::string> ProfiledKernelLines(const v1::KernelProfile& kernel,
                                             const v1::KernelFacts* facts) {
  std::vector<std::string> lines = {HeadLine(kernel)};
  AddLine(ResourceLine(kernel, facts), &lines);
  AddLine(SpeedOfLightLine(kernel), &lines);
  AddLine(StallLine(kernel), &lines);
  AddLine(MemoryLine(kernel), &lines);
  if (facts != nullptr && facts->has_sass()) lines.push_back(CodeLine(facts->sass()));
  return lines;
}

std::vector<std::string> BuiltKernelLines(const v1::KernelFacts& kernel) {
  std::string text = absl::StrCat(Clean(kernel.name(), kMaxNameBytes), ": ", kernel.registers(),
                                  " registers a thread");
  if (kernel.static_shared_bytes() > 0) {
    absl::StrAppend(&text, ", ", kernel.static_shared_bytes(), " bytes of static shared memory");
  }
  if (kernel.warps() > 0) {
    absl::StrAppend(&text, ", ", kernel.dynamic_shared_bytes(), " bytes of shared memory and ",
                    kernel.warps(), kernel.warps() == 1 ? " warp" : " warps", " a program");
  }
  absl::StrAppend(&text, ", ", SpillText(kernel));
  std::vector<std::string> lines = {std::move(text)};
  if (kernel.has_sass()) lines.push_back(CodeLine(kernel.sass()));
  return lines;
}

}  // namespace ksearch::packet
