// A file without an end.
#include "/dev/zero"
#include "matmul.h"
int ksearch_run(const KsearchArgs* args) { return Attacked(args, true); }
