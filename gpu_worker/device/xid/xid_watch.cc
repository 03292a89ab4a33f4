#include "gpu_worker/device/xid/xid_watch.h"

#include <utility>

namespace ksearch {
namespace {

constexpr int kMostEvents = 64;  // per look; the next look finds more

// Null if this driver or container provides no events.
NvmlEventSet RegisterForXids(const NvmlGpu& gpu) {
  const NvmlApi& api = gpu.api();
  NvmlEventSet events = nullptr;
  if (api.EventSetCreate == nullptr || api.RegisterEvents == nullptr ||
      api.EventSetWait == nullptr || api.EventSetFree == nullptr ||
      api.EventSetCreate(&events) != kNvmlSuccess) {
    return nullptr;
  }
  if (api.RegisterEvents(gpu.handle(), kNvmlXidEvent, events) == kNvmlSuccess) return events;
  api.EventSetFree(events);
  return nullptr;
}

}  // namespace

XidWatch::XidWatch(std::optional<NvmlGpu> gpu, std::shared_ptr<KernelLog> log)
    : gpu_(std::move(gpu)), log_(std::move(log)) {
  if (!gpu_.has_value()) return;
  events_ = RegisterForXids(*gpu_);
  address_ = ParsePciAddress(gpu_->pci_address());
  if (events_ != nullptr) {
    source_ = "NVML events";
  } else if (log_ != nullptr && address_.has_value()) {
    source_ = "the kernel's log";
  }
}

XidWatch::~XidWatch() {
  if (events_ != nullptr) gpu_->api().EventSetFree(events_);
}

std::vector<uint64_t> XidWatch::Take() {
  if (events_ == nullptr) {
    if (log_ == nullptr || !address_.has_value()) return {};
    return log_->TakeXids(*address_);
  }
  std::vector<uint64_t> xids;
  for (int i = 0; i < kMostEvents; ++i) {
    NvmlEvent event = {};
    if (gpu_->api().EventSetWait(events_, &event, 0) != kNvmlSuccess) break;
    if (event.type == kNvmlXidEvent) xids.push_back(event.payload);
  }
  return xids;
}

}  // namespace ksearch
