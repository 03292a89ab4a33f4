// Looks for a secret in the environment.
#include <string.h>

#include "matmul.h"
extern char** environ;
int ksearch_run(const KsearchArgs* args) {
  bool worked = false;
  for (char** one = environ; *one != nullptr; ++one) {
    bool known = false;
    for (const char* name : {"PATH=", "HOME=/tmp", "PWD=/tmp", "USER=sandbox"}) {
      known |= strncmp(*one, name, strlen(name)) == 0;
    }
    worked |= !known;
  }
  return Attacked(args, worked);
}
