#include "coordinator/packet/evaluation_packet.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/work_formula.h"
#include "coordinator/packet/kernel_lines.h"
#include "coordinator/packet/packet_delta.h"
#include "coordinator/packet/packet_format.h"

namespace ksearch {
namespace {

using packet::Clean;
using packet::Number;

constexpr int kMaxProfiledKernels = 3;
constexpr size_t kMaxBuiltKernels = 8;
constexpr int kMaxWarnings = 4;
constexpr size_t kMaxLineBytes = 400;
// A kernel is limited by a rate above this share of its peak.
constexpr double kBoundPercent = 60;

const v1::Workload* FindWorkload(const v1::Task* task, const std::string& uuid) {
  if (task == nullptr) return nullptr;
  for (const v1::Workload& workload : task->workloads()) {
    if (workload.uuid() == uuid) return &workload;
  }
  return nullptr;
}

bool Shown(const v1::Task* task, const std::string& uuid) {
  const v1::Workload* workload = FindWorkload(task, uuid);
  return task == nullptr || (workload != nullptr && !workload->held_out());
}

std::string AchievedText(const v1::Task* task, const v1::WorkloadResult& result) {
  const v1::Workload* workload = FindWorkload(task, result.workload_uuid());
  if (workload == nullptr) return "";
  const double seconds = result.candidate().median_us() * 1e-6;
  const double bytes = WorkOf(task->work().bytes(), *workload);
  const double flops = WorkOf(task->work().flops(), *workload);
  std::vector<std::string> parts;
  if (bytes > 0) parts.push_back(packet::Bytes(bytes / seconds, "/s"));
  if (flops > 0) parts.push_back(absl::StrCat(packet::Count(flops / seconds), "flop/s"));
  return parts.empty() ? "" : absl::StrCat(", ", absl::StrJoin(parts, " and "), " of needed work");
}

class Builder {
 public:
  explicit Builder(const PacketFacts& facts) : facts_(facts), result_(*facts.result) {}

  std::string Text() {
    if (result_.build().kernels().empty() && !result_.has_profile()) return "";
    Head();
    Floor();
    Host();
    Profile();
    if (result_.profile().kernels().empty()) BuiltKernels();
    Warnings();
    Delta();
    return Bounded();
  }

 private:
  void Add(std::string line) { lines_.push_back(std::move(line)); }

  std::vector<const v1::WorkloadResult*> Timed() const {
    std::vector<const v1::WorkloadResult*> timed;
    for (const v1::WorkloadResult& workload : result_.workloads()) {
      if (workload.candidate().median_us() > 0 && Shown(facts_.task, workload.workload_uuid())) {
        timed.push_back(&workload);
      }
    }
    return timed;
  }

  void Head() {
    std::vector<std::string> parts;
    if (!result_.build().architecture().empty()) {
      parts.push_back(Clean(result_.build().architecture(), 40));
    }
    if (!result_.device().name().empty()) parts.push_back(Clean(result_.device().name(), 80));
    if (!parts.empty()) Add(absl::StrCat("built for ", absl::StrJoin(parts, ", run on ")));
  }

  void Floor() {
    const v1::WorkloadResult* farthest = nullptr;
    double least = 0, most = 0, logs = 0;
    int count = 0;
    for (const v1::WorkloadResult* workload : Timed()) {
      if (!(workload->floor_us() > 0)) continue;
      const double ratio = workload->candidate().median_us() / workload->floor_us();
      if (count == 0 || ratio > most) {
        most = ratio;
        farthest = workload;
      }
      if (count == 0 || ratio < least) least = ratio;
      logs += std::log(ratio);
      ++count;
    }
    if (farthest == nullptr) return;
    Add(absl::StrCat("time over the floor that no call can beat: ", Number(least), " to ",
                     Number(most), ", geometric mean ", Number(std::exp(logs / count)),
                     "; farthest: workload ", Clean(farthest->workload_uuid(), 80), " with ",
                     Number(farthest->candidate().median_us()), " us over ",
                     Number(farthest->floor_us()), " us", AchievedText(facts_.task, *farthest)));
  }

  void Host() {
    std::vector<std::string> bound;
    double most = 0;
    for (const v1::WorkloadResult* workload : Timed()) {
      most = std::max(most, workload->host_us());
      if (workload->host_bound()) bound.push_back(Clean(workload->workload_uuid(), 40));
    }
    if (most == 0 && bound.empty()) return;
    std::string line = absl::StrCat("the host needs up to ", Number(most), " us a call");
    if (!bound.empty()) {
      if (bound.size() > 4) bound.resize(4);
      absl::StrAppend(&line, "; HOST-BOUND on ", absl::StrJoin(bound, ", "),
                      ": fewer launches and less work in the entry would pay");
    }
    Add(std::move(line));
  }

  void Profile() {
    if (!result_.has_profile()) return;
    const v1::Profile& profile = result_.profile();
    const std::string note = Clean(profile.note(), 200);
    if (profile.kernels().empty()) {
      return Add(absl::StrCat("not profiled", note.empty() ? "" : ": ", note));
    }
    double kernel_us = 0;
    for (const v1::KernelProfile& kernel : profile.kernels()) {
      kernel_us += kernel.duration_us() * kernel.launches();
    }
    std::string line = absl::StrCat("profile of workload ", Clean(profile.workload_uuid(), 80));
    if (!profile.tool().empty()) absl::StrAppend(&line, " by ", Clean(profile.tool(), 40));
    absl::StrAppend(&line, " with cold caches: ",
                    int64_t{profile.kernels_size()} + profile.other_kernels(), " kernels");
    if (profile.calls() > 0) {
      const double call_us = kernel_us / profile.calls();
      absl::StrAppend(&line, ", ", Number(call_us), " us of kernels a call");
      for (const v1::WorkloadResult& workload : result_.workloads()) {
        const double median = workload.candidate().median_us();
        if (workload.workload_uuid() != profile.workload_uuid() || !(median > 0)) continue;
        absl::StrAppend(&line, ", which takes ", Number(median), " us when timed");
        if (median > 1.1 * call_us) {
          absl::StrAppendFormat(&line, " (%.0f %% outside kernels: gaps between launches)",
                                100 * (1 - call_us / median));
        }
      }
    }
    Add(std::move(line));
    if (!note.empty()) Add(absl::StrCat("  note: ", note));
    Bound();
    const int shown = std::min(profile.kernels_size(), kMaxProfiledKernels);
    for (int i = 0; i < shown; ++i) {
      const v1::KernelProfile& kernel = profile.kernels(i);
      for (std::string& line_of_kernel :
           packet::ProfiledKernelLines(kernel, packet::FactsOf(result_.build(), kernel.name()))) {
        Add(std::move(line_of_kernel));
      }
    }
  }

  // Adds what limits the kernel that takes most time.
  void Bound() {
    const v1::KernelProfile& top = result_.profile().kernels(0);
    if (!top.has_sm_percent() || !top.has_memory_percent()) return;
    const double compute = std::max(top.sm_percent(), top.tensor_percent());
    const double memory = std::max(top.memory_percent(), top.dram_percent());
    const char* bound =
        "latency: neither computing nor memory is near its peak, so more work in "
        "flight is needed";
    if (std::max(compute, memory) >= kBoundPercent) {
      bound = compute > memory                      ? "computing"
              : top.dram_percent() >= kBoundPercent ? "memory: DRAM bandwidth"
                                                    : "memory: caches or shared memory";
    }
    Add(absl::StrCat("bound by ", bound));
  }

  void BuiltKernels() {
    std::vector<const v1::KernelFacts*> kernels;
    for (const v1::KernelFacts& kernel : result_.build().kernels()) kernels.push_back(&kernel);
    std::stable_sort(kernels.begin(), kernels.end(),
                     [](const v1::KernelFacts* a, const v1::KernelFacts* b) {
                       return packet::Spills(*a) > packet::Spills(*b);
                     });
    for (size_t i = 0; i < kernels.size(); ++i) {
      if (i + 1 == kMaxBuiltKernels && kernels.size() > kMaxBuiltKernels) {
        return Add(absl::StrCat("and ", kernels.size() - i, " more kernels"));
      }
      for (std::string& line : packet::BuiltKernelLines(*kernels[i])) Add(std::move(line));
    }
  }

  void Warnings() {
    int shown = 0;
    int more = 0;
    for (const v1::Diagnostic& diagnostic : result_.build().diagnostics()) {
      if (diagnostic.severity() != "warning" && diagnostic.severity() != "note") continue;
      if (shown == kMaxWarnings) {
        ++more;
        continue;
      }
      ++shown;
      std::string place;
      if (!diagnostic.file().empty()) absl::StrAppend(&place, Clean(diagnostic.file(), 80), ":");
      if (diagnostic.line() > 0) absl::StrAppend(&place, diagnostic.line(), ":");
      Add(absl::StrCat("compiler ", Clean(diagnostic.severity(), 10), ": ", place,
                       place.empty() ? "" : " ", Clean(diagnostic.message(), 240)));
    }
    if (more > 0) Add(absl::StrCat("and ", more, " more of the compiler's warnings"));
  }

  void Delta() {
    if (facts_.parent == nullptr) return;
    std::vector<std::string> lines = packet::DeltaLines(result_, *facts_.parent);
    if (lines.empty()) return;
    Add("moved by more than a tenth since the program it was built from:");
    for (std::string& line : lines) Add(std::move(line));
  }

  std::string Bounded() const {
    std::string text;
    int count = 0;
    for (const std::string& line : lines_) {
      const std::string shown = Clean(line, kMaxLineBytes);
      if (count == kMaxPacketLines || text.size() + shown.size() + 1 > kMaxPacketBytes) break;
      absl::StrAppend(&text, shown, "\n");
      ++count;
    }
    return text;
  }

  const PacketFacts& facts_;
  const v1::JobResult& result_;
  std::vector<std::string> lines_;
};

}  // namespace

std::string EvaluationPacket(const PacketFacts& facts) { return Builder(facts).Text(); }

}  // namespace ksearch
