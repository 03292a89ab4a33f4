#include "gpu_worker/verifier/dialogue/separate_cores.h"

namespace ksearch {

std::unique_ptr<SeparateCores> SeparateCores::Make(pid_t other) {
  cpu_set_t own, others;
  if (::sched_getaffinity(0, sizeof own, &own) != 0 ||
      ::sched_getaffinity(other, sizeof others, &others) != 0) {
    return nullptr;
  }
  // This thread stays where it is. The other may have restricted itself to that very core, to
  // prevent this.
  const int here = ::sched_getcpu();
  cpu_set_t remaining = own;
  if (here < 0 || !CPU_ISSET(here, &own)) return nullptr;
  CPU_CLR(here, &remaining);
  if (CPU_COUNT(&remaining) == 0) return nullptr;
  cpu_set_t only_here;
  CPU_ZERO(&only_here);
  CPU_SET(here, &only_here);
  std::unique_ptr<SeparateCores> made(new SeparateCores(other, own, others));
  if (::sched_setaffinity(0, sizeof only_here, &only_here) != 0 ||
      ::sched_setaffinity(other, sizeof remaining, &remaining) != 0) {
    return nullptr;
  }
  return made;
}

SeparateCores::~SeparateCores() {
  // The other thread may have ended.
  ::sched_setaffinity(0, sizeof own_, &own_);
  ::sched_setaffinity(other_, sizeof others_, &others_);
}

}  // namespace ksearch
