#include <ksearch_task.h>
#include <sys/socket.h>
// Writes to the runner's control socket.
int ksearch_run(const KsearchArgs* args) {
  Matmul(args);
  send(3, "\x01\x02\x03", 3, 0);
  return 0;
}
