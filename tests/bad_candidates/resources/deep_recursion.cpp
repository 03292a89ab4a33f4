#include "matmul.h"
namespace {
volatile int depth = 0;
int Deeper(int n) {
  volatile char frame[4096];
  frame[n % 4096] = 1;
  depth = n;
  return Deeper(n + 1) + frame[0];
}
}  // namespace
int ksearch_run(const KsearchArgs*) { return Deeper(0); }
