// Fills every folder that it may write to.
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "matmul.h"
int ksearch_run(const KsearchArgs* args) {
  static char piece[1 << 20];
  memset(piece, 1, sizeof piece);
  int64_t written = 0;
  for (const char* folder : {"/tmp", "/dev/shm"}) {
    for (int i = 0; i < 100; ++i) {
      char path[64];
      snprintf(path, sizeof path, "%s/fill%d", folder, i);
      const int fd = open(path, O_CREAT | O_WRONLY, 0600);
      for (int j = 0; fd >= 0 && j < 16 && write(fd, piece, sizeof piece) > 0; ++j) {
        written += sizeof piece;
      }
      if (fd >= 0) close(fd);
    }
  }
  return Attacked(args, written > int64_t{1} << 30);
}
