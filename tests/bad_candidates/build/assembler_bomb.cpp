#include "matmul.h"
asm(".data\n.rept 2000000000\n.byte 1\n.endr\n.text\n");
int ksearch_run(const KsearchArgs* args) { return Attacked(args, true); }
