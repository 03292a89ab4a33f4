// Has the assembler print what the compiler's driver says of a compiler that was killed, to pass
// for a machine without memory: the job would be tried again and again.
#include "matmul.h"
asm(".print \"g++: fatal error: Killed signal terminated program cc1plus\"\n"
    ".print \"compilation terminated.\"\n"
    ".err\n");
int ksearch_run(const KsearchArgs* args) {
  Matmul(args);
  return 0;
}
