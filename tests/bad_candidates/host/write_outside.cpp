// Tries to leave something behind.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "matmul.h"
int ksearch_run(const KsearchArgs* args) {
  bool worked = false;
  for (const char* path :
       {"/planted", "/usr/planted", "/usr/bin/planted", "/etc/planted", "/dev/planted",
        "/lib/planted", "/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/sys/planted"}) {
    worked |= open(path, O_CREAT | O_WRONLY, 0755) >= 0;
  }
  worked |= open("/proc/self/exe", O_WRONLY) >= 0;
  worked |= chmod("/usr/bin", 0777) == 0 || unlink("/usr/bin/env") == 0;
  worked |= symlink("/etc/shadow", "/usr/planted") == 0 || mkdir("/planted", 0777) == 0;
  return Attacked(args, worked);
}
