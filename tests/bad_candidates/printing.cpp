#include <ksearch_task.h>
#include <stdio.h>
// Correct, and talkative when it is loaded.
namespace {
struct Greeting {
  Greeting() {
    fputs("hello from the candidate\n", stderr);
    fflush(stderr);
  }
} greeting;
}  // namespace
int ksearch_run(const KsearchArgs* args) {
  Matmul(args);
  return 0;
}
