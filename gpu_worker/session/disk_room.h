#ifndef KSEARCH_GPU_WORKER_SESSION_DISK_ROOM_H_
#define KSEARCH_GPU_WORKER_SESSION_DISK_ROOM_H_

#include <string>

namespace ksearch {

// Why the file system of `folder` has too little room for the files of a job: less than 64 MiB are
// free, or less than 2 percent of a file system below 3.2 GB, or no file can be created. Empty if
// there is enough room, or if that cannot be determined. The text says what to do.
std::string DiskFullText(const std::string& folder);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_SESSION_DISK_ROOM_H_
