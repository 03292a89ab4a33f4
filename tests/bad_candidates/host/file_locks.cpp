// Locks and watches reach the host's own inodes, though its folders are read-only here.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/inotify.h>

#include "matmul.h"
int ksearch_run(const KsearchArgs* args) {
  const int file = open("/usr/bin/env", O_RDONLY);
  struct flock lock = {};
  lock.l_type = F_RDLCK;
  const int watch = inotify_init1(IN_NONBLOCK);
  const bool worked = flock(file, LOCK_SH) == 0 || fcntl(file, F_SETLK, &lock) == 0 ||
                      inotify_add_watch(watch, "/usr/bin", IN_OPEN) >= 0 ||
                      fcntl(open("/usr", O_RDONLY | O_DIRECTORY), F_NOTIFY, DN_ACCESS) == 0;
  return Attacked(args, worked);
}
