#include <ksearch_task.h>
int ksearch_run(const KsearchArgs*) {
  *static_cast<volatile int*>(nullptr) = 1;
  return 0;
}
