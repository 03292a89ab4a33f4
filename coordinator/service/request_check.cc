#include "coordinator/service/request_check.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/digest.h"
#include "common/protocol_version.h"
#include "common/status_macros.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

constexpr size_t kMaxIdBytes = 64;
constexpr size_t kMaxLeaseIdBytes = 128;
constexpr size_t kMaxTextBytes = 1024;
constexpr int kMaxDevices = 64;
constexpr int kMaxLeases = 4096;
constexpr int kMaxSlots = 1024;
// Documented limits of a result's texts are 2 to 8 KiB; twice that is refused as malformed.
constexpr size_t kMaxResultTextBytes = 16 << 10;
// Raw samples of a confirmation over many workloads are a few hundred KiB.
constexpr size_t kMaxResultBytes = 8 << 20;

absl::Status Refuse(absl::string_view field, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(field, ": ", why));
}

absl::Status CheckId(absl::string_view field, absl::string_view id, size_t max_bytes) {
  const bool legal = std::all_of(id.begin(), id.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-';
  });
  if (id.empty() || id.size() > max_bytes || !legal) {
    return Refuse(field, absl::StrCat("must be 1 to ", max_bytes, " of [A-Za-z0-9_.-]"));
  }
  return absl::OkStatus();
}

absl::Status CheckText(absl::string_view field, absl::string_view text, size_t max_bytes) {
  if (text.size() > max_bytes) {
    return Refuse(field,
                  absl::StrCat("has ", text.size(), " bytes; at most ", max_bytes, " allowed"));
  }
  return absl::OkStatus();
}

absl::Status CheckJobId(absl::string_view field, absl::string_view id) {
  if (!IsSha256Hex(id)) return Refuse(field, "must be 64 lower-case hex digits");
  return absl::OkStatus();
}

absl::Status CheckSamples(absl::string_view field, const v1::Samples& samples) {
  for (const double latency : samples.latency_us()) {
    if (!std::isfinite(latency) || latency < 0) return Refuse(field, "latency_us must be finite");
  }
  for (const double value : {samples.median_us(), samples.ci_low_us(), samples.ci_high_us()}) {
    if (!std::isfinite(value) || value < 0) return Refuse(field, "median and interval be finite");
  }
  return absl::OkStatus();
}

bool IsWorkersOutcome(v1::Outcome outcome) {
  return v1::Outcome_IsValid(outcome) && outcome != v1::OUTCOME_UNSPECIFIED &&
         outcome != v1::OUTCOME_WORKER_LOST && outcome != v1::OUTCOME_CANCELLED;
}

}  // namespace

absl::Status CheckHello(const v1::WorkerHello& hello) {
  if (hello.protocol_version() != kProtocolVersion) {
    return absl::FailedPreconditionError(
        absl::StrCat("protocol_version ", hello.protocol_version(),
                     " is not supported; this coordinator speaks ", kProtocolVersion,
                     ": install worker and coordinator of the same release"));
  }
  RETURN_IF_ERROR(CheckId("hello.worker_id", hello.worker_id(), kMaxIdBytes));
  RETURN_IF_ERROR(CheckId("hello.incarnation", hello.incarnation(), kMaxIdBytes));
  RETURN_IF_ERROR(CheckText("hello.name", hello.name(), kMaxTextBytes));
  RETURN_IF_ERROR(CheckText("hello.version", hello.version(), kMaxTextBytes));
  if (!hello.pool().empty()) RETURN_IF_ERROR(CheckId("hello.pool", hello.pool(), kMaxIdBytes));
  if (!hello.instance().empty()) {
    RETURN_IF_ERROR(CheckId("hello.instance", hello.instance(), kMaxIdBytes));
  }
  if (hello.devices().empty()) return Refuse("hello.devices", "at least one is needed");
  if (hello.devices_size() > kMaxDevices) return Refuse("hello.devices", "too many");
  for (int i = 0; i < hello.devices_size(); ++i) {
    const v1::DeviceCapability& device = hello.devices(i);
    const std::string field = absl::StrCat("hello.devices[", i, "]");
    if (!v1::DeviceClass_IsValid(device.device_class()) ||
        device.device_class() == v1::DEVICE_CLASS_UNSPECIFIED) {
      return Refuse(absl::StrCat(field, ".device_class"), "must be set");
    }
    if (device.ByteSizeLong() > 16 * kMaxTextBytes) return Refuse(field, "too large");
  }
  return absl::OkStatus();
}

absl::Status CheckReport(const v1::WorkerReport& report) {
  if (report.free_slots() < 0 || report.free_slots() > kMaxSlots) {
    return Refuse("report.free_slots", absl::StrCat("must be from 0 to ", kMaxSlots));
  }
  if (report.applied_directive_seq() < 0) {
    return Refuse("report.applied_directive_seq", "must not be negative");
  }
  if (report.leases_size() > kMaxLeases) return Refuse("report.leases", "too many");
  if (report.has_time_left() && FromProto(report.time_left()) < absl::ZeroDuration()) {
    return Refuse("report.time_left", "must not be negative");
  }
  RETURN_IF_ERROR(CheckText("report.leaving_because", report.leaving_because(), 4 * kMaxTextBytes));
  RETURN_IF_ERROR(CheckText("report.health.reason", report.health().reason(), 4 * kMaxTextBytes));
  if (report.health().sick_devices_size() > kMaxSlots) {
    return Refuse("report.health.sick_devices", "too many");
  }
  for (int i = 0; i < report.health().sick_devices_size(); ++i) {
    const v1::SickDevice& device = report.health().sick_devices(i);
    const std::string field = absl::StrCat("report.health.sick_devices[", i, "]");
    RETURN_IF_ERROR(CheckText(field + ".device_id", device.device_id(), kMaxTextBytes));
    RETURN_IF_ERROR(CheckText(field + ".reason", device.reason(), 4 * kMaxTextBytes));
  }
  if (report.health().readings_size() > kMaxSlots) {
    return Refuse("report.health.readings", "too many");
  }
  for (int i = 0; i < report.health().readings_size(); ++i) {
    RETURN_IF_ERROR(CheckText(absl::StrCat("report.health.readings[", i, "].device_id"),
                              report.health().readings(i).device_id(), kMaxTextBytes));
  }
  for (int i = 0; i < report.leases_size(); ++i) {
    const v1::HeldLease& lease = report.leases(i);
    const std::string field = absl::StrCat("report.leases[", i, "]");
    RETURN_IF_ERROR(CheckId(absl::StrCat(field, ".lease_id"), lease.lease_id(), kMaxLeaseIdBytes));
    RETURN_IF_ERROR(CheckJobId(absl::StrCat(field, ".job_id"), lease.job_id()));
    if (lease.attempt() < 1) return Refuse(absl::StrCat(field, ".attempt"), "must be 1 or more");
    RETURN_IF_ERROR(
        CheckText(absl::StrCat(field, ".returned"), lease.returned(), 16 * kMaxTextBytes));
  }
  return absl::OkStatus();
}

absl::Status CheckResult(const v1::RecordResultRequest& request) {
  const v1::JobResult& result = request.result();
  RETURN_IF_ERROR(CheckJobId("result.job_id", result.job_id()));
  RETURN_IF_ERROR(CheckId("result.worker_id", result.worker_id(), kMaxIdBytes));
  RETURN_IF_ERROR(CheckId("lease_id", request.lease_id(), kMaxLeaseIdBytes));
  if (result.attempt() < 1) return Refuse("result.attempt", "must be 1 or more");
  if (!IsWorkersOutcome(result.outcome())) {
    return Refuse("result.outcome", absl::StrCat(static_cast<int>(result.outcome()),
                                                 " is not an ending a worker may report"));
  }
  RETURN_IF_ERROR(CheckText("result.message", result.message(), kMaxResultTextBytes));
  RETURN_IF_ERROR(CheckText("result.stderr_excerpt", result.stderr_excerpt(), kMaxResultTextBytes));
  RETURN_IF_ERROR(
      CheckText("result.build.log_excerpt", result.build().log_excerpt(), kMaxResultTextBytes));
  if (result.ByteSizeLong() > kMaxResultBytes) {
    return Refuse("result", absl::StrCat("larger than ", kMaxResultBytes, " bytes"));
  }
  for (int i = 0; i < result.workloads_size(); ++i) {
    const v1::WorkloadResult& workload = result.workloads(i);
    const std::string field = absl::StrCat("result.workloads[", i, "]");
    if (!v1::Outcome_IsValid(workload.outcome())) {
      return Refuse(absl::StrCat(field, ".outcome"), "unknown value");
    }
    RETURN_IF_ERROR(CheckSamples(absl::StrCat(field, ".candidate"), workload.candidate()));
    RETURN_IF_ERROR(CheckSamples(absl::StrCat(field, ".baseline"), workload.baseline()));
  }
  return absl::OkStatus();
}

}  // namespace ksearch
