#include <netinet/in.h>
#include <sys/socket.h>

#include "matmul.h"
int ksearch_run(const KsearchArgs* args) {
  bool worked = false;
  for (const int family : {AF_INET, AF_INET6, AF_NETLINK, AF_PACKET, AF_VSOCK}) {
    for (const int type : {SOCK_STREAM, SOCK_DGRAM, SOCK_RAW})
      worked |= socket(family, type, 0) >= 0;
  }
  return Attacked(args, worked);
}
