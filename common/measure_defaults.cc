#include "common/measure_defaults.h"

#include "common/textproto.h"

namespace ksearch {

v1::MeasurePlan WithDefaults(v1::MeasurePlan plan, v1::DeviceClass device) {
  if (!plan.has_target_half_width()) plan.set_target_half_width(kDefaultTargetHalfWidth);
  if (!plan.has_max_time_per_workload()) {
    *plan.mutable_max_time_per_workload() = ToProto(kDefaultMaxTimePerWorkload);
  }
  if (!plan.has_min_calls()) plan.set_min_calls(kDefaultMinCalls);
  if (!plan.has_max_calls()) plan.set_max_calls(kDefaultMaxCalls);
  if (!plan.has_launches()) {
    plan.set_launches(device == v1::DEVICE_CLASS_CPU ? kDefaultLaunchesOnProcessors
                                                     : kDefaultLaunches);
  }
  if (!plan.has_blocks_per_launch()) plan.set_blocks_per_launch(kDefaultBlocksPerLaunch);
  if (!plan.has_min_block_time()) *plan.mutable_min_block_time() = ToProto(kDefaultMinBlockTime);
  if (!plan.has_min_effect()) plan.set_min_effect(kDefaultMinEffect);
  if (!plan.has_confidence()) plan.set_confidence(kDefaultConfidence);
  return plan;
}

v1::Limits WithDefaults(v1::Limits limits) {
  if (!limits.has_build_time()) *limits.mutable_build_time() = ToProto(kDefaultBuildTime);
  if (!limits.has_call_time()) *limits.mutable_call_time() = ToProto(kDefaultCallTime);
  if (!limits.has_total_time()) *limits.mutable_total_time() = ToProto(kDefaultTotalTime);
  if (!limits.has_memory_bytes()) limits.set_memory_bytes(kDefaultMemoryBytes);
  if (!limits.has_source_bytes()) limits.set_source_bytes(kDefaultSourceBytes);
  if (!limits.has_artifact_bytes()) limits.set_artifact_bytes(kDefaultArtifactBytes);
  return limits;
}

}  // namespace ksearch
