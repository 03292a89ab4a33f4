// Takes its own scratch memory at every call, in three ways.
#include <string.h>
#include <sys/mman.h>

#include <memory>
#include <vector>

#include "matmul.h"
int ksearch_run(const KsearchArgs* args) {
  const size_t count = static_cast<size_t>(args->m * args->n);
  std::vector<float> one(count);
  const std::unique_ptr<float[]> two(new float[count]);
  void* three = mmap(nullptr, count * sizeof(float), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (three == MAP_FAILED) return 1;
  KsearchArgs scratch = *args;
  scratch.c = one.data();
  Matmul(&scratch);
  memcpy(two.get(), one.data(), count * sizeof(float));
  memcpy(three, two.get(), count * sizeof(float));
  memcpy(args->c, three, count * sizeof(float));
  munmap(three, count * sizeof(float));
  return 0;
}
