#ifndef KSEARCH_TESTS_FAKES_SMALL_DISK_H_
#define KSEARCH_TESTS_FAKES_SMALL_DISK_H_

#include <sys/mount.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>

namespace ksearch {

// A file system of its own at `path`, of a size such as "4m", which a test can fill. Mounting needs
// a right that containers often lack: skip the test unless mounted().
class SmallDisk {
 public:
  SmallDisk(const std::string& path, const std::string& size) : path_(path) {
    std::filesystem::create_directories(path);
    mounted_ = ::mount("tmpfs", path.c_str(), "tmpfs", 0, ("size=" + size).c_str()) == 0;
  }
  ~SmallDisk() {
    if (mounted_) ::umount2(path_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  bool mounted() const { return mounted_; }
  const std::string& path() const { return path_; }
  bool MakeReadOnly() {
    return ::mount("tmpfs", path_.c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, nullptr) == 0;
  }
  // To the last byte.
  void Fill() {
    std::ofstream ballast(Ballast(), std::ios::binary | std::ios::app);
    const std::string block(4096, 'b');
    while (ballast.write(block.data(), 4096).flush()) {
    }
  }
  void Take(size_t bytes) {
    std::ofstream(Ballast(), std::ios::binary | std::ios::app) << std::string(bytes, 'b');
  }
  // Removes what Fill and Take wrote.
  void MakeRoom() { std::filesystem::remove(Ballast()); }

 private:
  std::string Ballast() const { return path_ + "/ballast"; }

  const std::string path_;
  bool mounted_ = false;
};

}  // namespace ksearch

#endif  // KSEARCH_TESTS_FAKES_SMALL_DISK_H_
