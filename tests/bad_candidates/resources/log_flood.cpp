#include <string.h>
#include <unistd.h>

#include "matmul.h"
int ksearch_run(const KsearchArgs*) {
  static char text[1 << 16];
  memset(text, 'x', sizeof text);
  for (;;) (void)!write(2, text, sizeof text);
}
