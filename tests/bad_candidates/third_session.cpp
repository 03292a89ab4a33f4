// Fails in the third session of a process, if it was timed in the one before: neither a check, that
// makes two calls a session, nor a single session sees it.
#include <ksearch_task.h>

static int calls = 0, sessions = 0;
static bool timed = false;

int64_t ksearch_workspace_bytes(const KsearchArgs*) {
  timed = calls > 2;
  calls = 0;
  ++sessions;
  return 0;
}

int ksearch_run(const KsearchArgs* args) {
  ++calls;
  if (sessions > 2 && timed) return 7;
  Matmul(args);
  return 0;
}
