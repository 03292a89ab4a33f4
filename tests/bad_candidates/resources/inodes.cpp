// A tmpfs that is limited in bytes takes any number of empty files, folders and links.
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "matmul.h"
int ksearch_run(const KsearchArgs* args) {
  int made = 0;
  for (int i = 0; i < 20'000; ++i) {
    char path[64];
    snprintf(path, sizeof path, "/dev/shm/inode%d", i);
    const int fd = open(path, O_CREAT | O_WRONLY, 0600);
    if (fd >= 0) close(fd);
    made += fd >= 0 || mkdir(path, 0700) == 0 || symlink("/", path) == 0 ||
            mknod(path, S_IFIFO | 0600, 0) == 0;
  }
  return Attacked(args, made > 0);
}
