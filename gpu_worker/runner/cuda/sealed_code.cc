#include "gpu_worker/runner/cuda/sealed_code.h"

#include <link.h>
#include <unistd.h>

#include <cstdint>

#include "gpu_worker/cuda/sealed_table.h"

namespace ksearch {
namespace {

struct Sealing {
  uintptr_t page = 0;
  int sealed = 0;
};

int SealObject(struct dl_phdr_info* object, size_t, void* closure) {
  auto* const sealing = static_cast<Sealing*>(closure);
  const uintptr_t page = sealing->page;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    const bool constant = segment.p_type == PT_LOAD && (segment.p_flags & PF_W) == 0;
    if (!constant && segment.p_type != PT_GNU_RELRO) continue;
    // The loader makes only whole pages of RELRO read-only and leaves the rest of the last page.
    const uintptr_t begin = (object->dlpi_addr + segment.p_vaddr) / page * page;
    const uintptr_t end_of_it = object->dlpi_addr + segment.p_vaddr + segment.p_memsz;
    const uintptr_t end = (constant ? end_of_it + page - 1 : end_of_it) / page * page;
    if (end > begin && SealPages(reinterpret_cast<const void*>(begin), end - begin)) {
      ++sealing->sealed;
    }
  }
  return 0;
}

}  // namespace

int SealLoadedCode() {
  Sealing sealing;
  sealing.page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  ::dl_iterate_phdr(SealObject, &sealing);
  return sealing.sealed;
}

}  // namespace ksearch
