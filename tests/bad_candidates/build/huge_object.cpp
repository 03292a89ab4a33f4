#include "matmul.h"
asm(".data\nballast: .fill 67108864, 1, 7\n.text");
int ksearch_run(const KsearchArgs* args) { return Attacked(args, true); }
