// Two to the power of the depth at which the compiler gives up.
#if __INCLUDE_LEVEL__ < 60
#include __FILE__
#include __FILE__
#endif
#ifndef ONCE
#define ONCE
#include "matmul.h"
int ksearch_run(const KsearchArgs* args) { return Attacked(args, true); }
#endif
