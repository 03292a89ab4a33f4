// Looks for what a host has and a sandbox should not.
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include "matmul.h"
namespace {
bool CanRead(const char* path) {
  const int fd = open(path, O_RDONLY);
  char byte;
  return fd >= 0 && read(fd, &byte, 1) == 1;
}
bool HasEntries(const char* path) {
  DIR* folder = opendir(path);
  int entries = 0;
  while (folder != nullptr && readdir(folder) != nullptr) ++entries;
  return entries > 2;
}
}  // namespace
int ksearch_run(const KsearchArgs* args) {
  bool worked = false;
  for (const char* path : {"/etc/passwd", "/etc/shadow", "/etc/hostname", "/proc/1/environ",
                           "/proc/1/maps", "/proc/kcore", "/dev/mem", "/dev/sda"}) {
    worked |= CanRead(path);
  }
  for (const char* path : {"/root", "/home", "/var", "/run", "/srv", "/opt", "/boot", "/mnt"}) {
    worked |= HasEntries(path);
  }
  return Attacked(args, worked);
}
