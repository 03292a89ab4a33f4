#include <ksearch_task.h>
#include <unistd.h>
// Tries to start another process; reports what came of it.
int ksearch_run(const KsearchArgs* args) {
  Matmul(args);
  const pid_t child = fork();
  if (child == 0) _exit(0);
  return child < 0 ? 5 : 0;
}
