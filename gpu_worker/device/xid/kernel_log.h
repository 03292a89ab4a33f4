#ifndef KSEARCH_GPU_WORKER_DEVICE_XID_KERNEL_LOG_H_
#define KSEARCH_GPU_WORKER_DEVICE_XID_KERNEL_LOG_H_

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/mutex.h"
#include "common/unique_fd.h"

namespace ksearch {

// The PCI address of a GPU in the kernel's notation: "0000:0a:00".
struct PciAddress {
  unsigned domain = 0, bus = 0, device = 0;
  auto operator<=>(const PciAddress&) const = default;
};
// Parses "0000:0a:00", with or without ".0", the domain with 4 or 8 digits; nullopt if it is not an
// address.
std::optional<PciAddress> ParsePciAddress(absl::string_view text);

struct XidRecord {
  PciAddress gpu;
  uint64_t xid = 0;
};
// Parses "... NVRM: Xid (PCI:0000:0a:00): 79, pid=1234, ..."; nullopt for any other line.
std::optional<XidRecord> ParseXidLine(absl::string_view line);

// The kernel's log from the time of opening on, shared by all GPUs of a worker. Thread-safe.
class KernelLog {
 public:
  // PERMISSION_DENIED, NOT_FOUND: with the reason. Root may always open it; a process that then
  // changes its account can keep reading.
  static absl::StatusOr<std::shared_ptr<KernelLog>> Open(const std::string& path = "/dev/kmsg");

  // Returns the Xids of this GPU since the last call for it, oldest first.
  std::vector<uint64_t> TakeXids(const PciAddress& gpu);

 private:
  explicit KernelLog(UniqueFd file) : file_(std::move(file)) {}
  void ReadNew() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const UniqueFd file_;
  Mutex mu_;
  std::map<PciAddress, std::vector<uint64_t>> waiting_ ABSL_GUARDED_BY(mu_);
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_DEVICE_XID_KERNEL_LOG_H_
