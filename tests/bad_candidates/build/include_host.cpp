#include "/etc/passwd"
#include "matmul.h"
int ksearch_run(const KsearchArgs* args) { return Attacked(args, true); }
