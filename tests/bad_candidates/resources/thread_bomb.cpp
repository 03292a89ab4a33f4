#include <pthread.h>
#include <unistd.h>

#include "matmul.h"
namespace {
void* Wait(void*) {
  for (;;) pause();
}
}  // namespace
int ksearch_run(const KsearchArgs* args) {
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 1 << 16);
  for (int i = 0; i < 20000; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, &small, Wait, nullptr) != 0) return kContained;
  }
  return Attacked(args, true);
}
