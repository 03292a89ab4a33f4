#include <ksearch_task.h>
#include <stdio.h>
// Correct, and talkative: when it is loaded, and in calls, where it has inputs to talk of.
namespace {
struct Greeting {
  Greeting() {
    fputs("hello from the candidate\n", stderr);
    fflush(stderr);
  }
} greeting;
}  // namespace
int ksearch_run(const KsearchArgs* args) {
  fputs("hello from a call\n", stderr);
  Matmul(args);
  return 0;
}
