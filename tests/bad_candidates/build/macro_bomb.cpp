#include "matmul.h"
#define A(x) x + x + x + x + x + x + x + x
#define B(x) A(A(A(x)))
#define C(x) B(B(B(x)))
int ksearch_run(const KsearchArgs* args) { return Attacked(args, (C(args->m)) != 0); }
