// Linked into mostly static binaries. libstdc++ 12 calls arc4random, which glibc has since 2.36;
// with this replacement the binaries run with glibc 2.35 (Ubuntu 22.04) and later.
#include <sys/random.h>

#include <cstdint>
#include <cstdlib>

extern "C" uint32_t arc4random() {
  uint32_t value = 0;
  // Never short for this few bytes once the pool is ready; interrupted only before that.
  while (::getrandom(&value, sizeof value, 0) != static_cast<ssize_t>(sizeof value)) {
  }
  return value;
}
