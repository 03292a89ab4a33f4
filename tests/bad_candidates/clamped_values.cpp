// Right for numbers as the workloads draw them.
#include "careless_matmul.h"

int ksearch_run(const KsearchArgs* args) { return MultiplyClamped(args, kBeyondNormal); }
