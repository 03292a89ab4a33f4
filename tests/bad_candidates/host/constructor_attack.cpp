// Code that runs while it is loaded is bound by the same rules.
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "matmul.h"
namespace {
bool worked = false;
__attribute__((constructor)) void OnLoad() {
  worked |= socket(AF_INET, SOCK_STREAM, 0) >= 0;
  worked |= open("/usr/planted", O_CREAT | O_WRONLY, 0600) >= 0;
  const pid_t child = fork();
  if (child == 0) _exit(0);
  worked |= child > 0;
}
}  // namespace
int ksearch_run(const KsearchArgs* args) { return Attacked(args, worked); }
