#include "gpu_worker/device/xid/kernel_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/status_macros.h"

namespace ksearch {
namespace {

constexpr char kMark[] = "NVRM: Xid (PCI:";
// One record of the kernel's log is at most this long (CONSOLE_EXT_LOG_MAX).
constexpr size_t kRecordBytes = 8192;
constexpr int kMostRecords = 4096;  // per look; the next look finds more
constexpr size_t kMostWaiting = 256;

}  // namespace

std::optional<PciAddress> ParsePciAddress(absl::string_view text) {
  PciAddress address;
  int end = 0;
  const std::string copy(text.substr(0, 32));
  if (std::sscanf(copy.c_str(), "%8x:%2x:%2x%n", &address.domain, &address.bus, &address.device,
                  &end) != 3) {
    return std::nullopt;
  }
  const std::string rest = copy.substr(static_cast<size_t>(end));
  if (!rest.empty() && rest[0] != '.') return std::nullopt;
  return address;
}

std::optional<XidRecord> ParseXidLine(absl::string_view line) {
  const size_t mark = line.find(kMark);
  if (mark == absl::string_view::npos) return std::nullopt;
  line.remove_prefix(mark + sizeof kMark - 1);
  const size_t closed = line.find("): ");
  if (closed == absl::string_view::npos) return std::nullopt;
  const std::optional<PciAddress> gpu = ParsePciAddress(line.substr(0, closed));
  line.remove_prefix(closed + 3);
  XidRecord record;
  if (!gpu.has_value() ||
      !absl::SimpleAtoi(line.substr(0, line.find_first_not_of("0123456789")), &record.xid)) {
    return std::nullopt;
  }
  record.gpu = *gpu;
  return record;
}

absl::StatusOr<std::shared_ptr<KernelLog>> KernelLog::Open(const std::string& path) {
  UniqueFd file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!file.ok()) return ErrnoStatus(errno, absl::StrCat("open ", path));
  // Earlier events do not concern this worker.
  if (::lseek(file.get(), 0, SEEK_END) < 0) return ErrnoStatus(errno, absl::StrCat("seek ", path));
  return std::shared_ptr<KernelLog>(new KernelLog(std::move(file)));
}

void KernelLog::ReadNew() {
  char text[kRecordBytes];
  for (int i = 0; i < kMostRecords; ++i) {
    const ssize_t bytes = ::read(file_.get(), text, sizeof text);
    // EPIPE: records were overwritten before they were read; the next read continues after them.
    if (bytes < 0 && (errno == EPIPE || errno == EINTR)) continue;
    if (bytes <= 0) return;
    for (const absl::string_view line :
         absl::StrSplit(absl::string_view(text, static_cast<size_t>(bytes)), '\n')) {
      const std::optional<XidRecord> record = ParseXidLine(line);
      if (!record.has_value()) continue;
      std::vector<uint64_t>& waiting = waiting_[record->gpu];
      if (waiting.size() < kMostWaiting) waiting.push_back(record->xid);
    }
  }
}

std::vector<uint64_t> KernelLog::TakeXids(const PciAddress& gpu) {
  MutexLock lock(&mu_);
  ReadNew();
  std::vector<uint64_t> taken;
  taken.swap(waiting_[gpu]);
  return taken;
}

}  // namespace ksearch
