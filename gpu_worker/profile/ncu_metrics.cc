#include "gpu_worker/profile/ncu_metrics.h"

#include <cmath>
#include <cstdint>

namespace ksearch {
namespace {

using Kernel = v1::KernelProfile;

template <void (Kernel::*kSet)(double)>
void Real(double value, Kernel* kernel) {
  (kernel->*kSet)(value);
}

// Numbers come from the candidate's process: values that do not fit are left out.
template <void (Kernel::*kSet)(int32_t)>
void Small(double value, Kernel* kernel) {
  if (value >= 0 && value <= 1e9) (kernel->*kSet)(static_cast<int32_t>(std::llround(value)));
}

template <void (Kernel::*kSet)(int64_t)>
void Bytes(double value, Kernel* kernel) {
  if (value >= 0 && value <= 1e15) (kernel->*kSet)(std::llround(value));
}

// The smallest of these numbers is how many blocks fit; every number equal to it is a limit.
template <Kernel::BlockLimit kLimit>
void Limit(double value, Kernel* kernel) {
  if (!(value >= 0 && value <= 1e9)) return;
  const auto blocks = static_cast<int32_t>(std::llround(value));
  if (kernel->has_blocks_per_sm() && kernel->blocks_per_sm() < blocks) return;
  if (!kernel->has_blocks_per_sm() || kernel->blocks_per_sm() > blocks) {
    kernel->clear_block_limits();
  }
  kernel->set_blocks_per_sm(blocks);
  kernel->add_block_limits(kLimit);
}

template <void (v1::GridExtent::*kSet)(int32_t)>
void Cluster(double value, Kernel* kernel) {
  if (value >= 0 && value <= 1e6) {
    (kernel->mutable_cluster()->*kSet)(static_cast<int32_t>(std::llround(value)));
  }
}

}  // namespace

const std::vector<NcuMetric>& NcuMetrics() {
  constexpr auto kMean = NcuMetric::kMean;
  constexpr auto kWeighted = NcuMetric::kTimeWeighted;
  constexpr auto kLongest = NcuMetric::kLongestLaunch;
  using K = Kernel;
  static const auto& metrics = *new std::vector<NcuMetric>{
      {"launch__registers_per_thread", kLongest, Small<&K::set_registers>},
      {"launch__shared_mem_per_block_static", kLongest, Bytes<&K::set_static_shared_bytes>},
      {"launch__shared_mem_per_block_dynamic", kLongest, Bytes<&K::set_dynamic_shared_bytes>},
      {"launch__cluster_dim_x", kLongest, Cluster<&v1::GridExtent::set_x>, true},
      {"launch__cluster_dim_y", kLongest, Cluster<&v1::GridExtent::set_y>, true},
      {"launch__cluster_dim_z", kLongest, Cluster<&v1::GridExtent::set_z>, true},
      {"launch__occupancy_limit_blocks", kLongest, Limit<K::BLOCKS>},
      {"launch__occupancy_limit_registers", kLongest, Limit<K::REGISTERS>},
      {"launch__occupancy_limit_shared_mem", kLongest, Limit<K::SHARED_MEMORY>},
      {"launch__occupancy_limit_warps", kLongest, Limit<K::WARPS>},
      {"launch__occupancy_limit_barriers", kLongest, Limit<K::BARRIERS>, true},
      {"launch__waves_per_multiprocessor", kLongest, Real<&K::set_waves>},
      {"sm__maximum_warps_per_active_cycle_pct", kLongest,
       Real<&K::set_theoretical_occupancy_percent>},
      {"sm__warps_active.avg.pct_of_peak_sustained_active", kWeighted,
       Real<&K::set_achieved_occupancy_percent>},
      {"sm__throughput.avg.pct_of_peak_sustained_elapsed", kWeighted, Real<&K::set_sm_percent>},
      {"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", kWeighted,
       Real<&K::set_memory_percent>},
      {"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", kWeighted,
       Real<&K::set_dram_percent>},
      {"lts__throughput.avg.pct_of_peak_sustained_elapsed", kWeighted, Real<&K::set_l2_percent>},
      {"l1tex__throughput.avg.pct_of_peak_sustained_active", kWeighted, Real<&K::set_l1_percent>},
      {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", kWeighted,
       Real<&K::set_tensor_percent>},
      {"smsp__issue_active.avg.pct_of_peak_sustained_active", kWeighted,
       Real<&K::set_issue_active_percent>},
      {"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio", kWeighted,
       Real<&K::set_load_bytes_per_sector>},
      {"smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio", kWeighted,
       Real<&K::set_store_bytes_per_sector>},
      {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", kWeighted,
       Real<&K::set_sectors_per_load>},
      {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", kMean, Real<&K::set_bank_conflicts>},
      {"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", kMean, Real<&K::set_shared_wavefronts>},
      {"l1tex__t_sector_hit_rate.pct", kWeighted, Real<&K::set_l1_hit_percent>},
      {"lts__t_sector_hit_rate.pct", kWeighted, Real<&K::set_l2_hit_percent>},
      {"dram__bytes_read.sum", kMean, Real<&K::set_dram_read_bytes>},
      {"dram__bytes_write.sum", kMean, Real<&K::set_dram_written_bytes>},
      {"smsp__thread_inst_executed_per_inst_executed.ratio", kWeighted,
       Real<&K::set_threads_per_instruction>},
  };
  return metrics;
}

const std::vector<const char*>& NcuStallReasons() {
  static const auto& reasons = *new std::vector<const char*>{"barrier",
                                                             "branch_resolving",
                                                             "dispatch_stall",
                                                             "drain",
                                                             "gmma",
                                                             "imc_miss",
                                                             "lg_throttle",
                                                             "long_scoreboard",
                                                             "math_pipe_throttle",
                                                             "membar",
                                                             "mio_throttle",
                                                             "misc",
                                                             "no_instruction",
                                                             "not_selected",
                                                             "selected",
                                                             "short_scoreboard",
                                                             "sleeping",
                                                             "tex_throttle",
                                                             "wait"};
  return reasons;
}

}  // namespace ksearch
