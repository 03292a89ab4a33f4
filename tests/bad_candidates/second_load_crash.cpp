// Loads once, and crashes when the same parent has it loaded again. Leaves a file behind.
#include <fcntl.h>
#include <ksearch_task.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

__attribute__((constructor)) static void OnLoad() {
  char path[64];
  std::snprintf(path, sizeof path, "/tmp/ksearch_second_load_%d", static_cast<int>(getppid()));
  if (open(path, O_CREAT | O_EXCL | O_WRONLY, 0600) < 0) std::abort();
}

int ksearch_run(const KsearchArgs* args) {
  Matmul(args);
  return 0;
}
