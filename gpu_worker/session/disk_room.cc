#include "gpu_worker/session/disk_room.h"

#include <sys/statvfs.h>

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"

namespace ksearch {
namespace {

constexpr int64_t kMostRoom = int64_t{64} << 20;
constexpr int64_t kShare = 50;  // 1/50 of the file system

}  // namespace

std::string DiskFullText(const std::string& folder) {
  struct statvfs facts;
  if (::statvfs(folder.c_str(), &facts) != 0) return "";
  const int64_t block = static_cast<int64_t>(facts.f_frsize);
  const int64_t free = static_cast<int64_t>(facts.f_bavail) * block;
  const int64_t needed = std::min(kMostRoom, static_cast<int64_t>(facts.f_blocks) * block / kShare);
  // Some file systems have no fixed number of files, and report 0 of 0.
  const bool no_files = facts.f_files > 0 && facts.f_favail == 0;
  if (free >= needed && !no_files) return "";
  return absl::StrCat("the disk of state_dir ", folder, " is full (", free, " bytes free",
                      no_files ? ", and no more files can be created" : "",
                      "); free some space there");
}

}  // namespace ksearch
