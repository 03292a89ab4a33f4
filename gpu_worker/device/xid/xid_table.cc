#include "gpu_worker/device/xid/xid_table.h"

#include <iterator>

namespace ksearch {
namespace {

// Numbers and names from NVIDIA's "XID Errors" (docs.nvidia.com/deploy/xid-errors, the catalog for
// Ampere and newer GPUs). Its resolution buckets decide the classes: RESTART_APP with a check of
// the application blames the program; RESET_GPU, RESTART_BM, CONTACT_SUPPORT and the workflows for
// memory, links and firmware blame the device. If the catalog leaves both open (8, 46, 109: the GPU
// stopped, which an endless kernel alone does not cause on a GPU without a display) the device is
// assumed: a wrong guess then costs a retry, the opposite one a good program's verdict.
constexpr Xid kTable[] = {
    {8, XidClass::kDevice, "the GPU stopped processing"},
    {13, XidClass::kProgram, "exception in a kernel"},
    {31, XidClass::kProgram, "memory page fault"},
    {43, XidClass::kProgram, "a program's channel was reset"},
    {45, XidClass::kCleanUp, "clean-up after a program that ended"},
    {46, XidClass::kDevice, "the GPU stopped processing"},
    {48, XidClass::kDevice, "uncorrectable memory error"},
    {63, XidClass::kDevice, "a memory row is to be replaced"},
    {64, XidClass::kDevice, "a memory row cannot be replaced"},
    {69, XidClass::kProgram, "wrong use of the compute engine"},
    {74, XidClass::kDevice, "NVLink error"},
    {79, XidClass::kDevice, "the GPU has fallen off the bus"},
    {94, XidClass::kContained, "contained memory error"},
    {95, XidClass::kDevice, "uncontained memory error"},
    {109, XidClass::kDevice, "context switch timed out"},
    {119, XidClass::kDevice, "the GPU's firmware does not answer"},
    {120, XidClass::kDevice, "the GPU's firmware failed"},
    {154, XidClass::kDevice, "the driver asks for a reset of the GPU"},
};

}  // namespace

absl::Span<const Xid> XidTable() { return absl::MakeConstSpan(kTable, std::size(kTable)); }

Xid DescribeXid(uint64_t number) {
  for (const Xid& xid : kTable) {
    if (xid.number == number) return xid;
  }
  return {number, XidClass::kUnlisted, "see NVIDIA's list of Xid errors"};
}

}  // namespace ksearch
