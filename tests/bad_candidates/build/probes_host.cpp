// Asks the preprocessor which files of the host there are.
#include "matmul.h"
#if __has_include("/etc/passwd") ||                                               \
                  __has_include("/etc/shadow") ||                                 \
                                __has_include("/root/.bashrc") ||                 \
                                              __has_include("/proc/1/cmdline") || \
                                                            __has_include("/var/log/dpkg.log")
constexpr bool kSeen = true;
#else
constexpr bool kSeen = false;
#endif
int ksearch_run(const KsearchArgs* args) { return Attacked(args, kSeen); }
