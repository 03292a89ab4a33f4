// Sends the verifier a descriptor.
#include <string.h>
#include <sys/socket.h>

#include "matmul.h"
int ksearch_run(const KsearchArgs* args) {
  char byte = 0;
  iovec part = {&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  const int fd = 1;
  memcpy(CMSG_DATA(header), &fd, sizeof fd);
  return Attacked(args, sendmsg(3, &message, 0) >= 0);
}
