#ifndef KSEARCH_TESTS_GPU_WORKER_SESSION_SCRATCH_FOLDER_H_
#define KSEARCH_TESTS_GPU_WORKER_SESSION_SCRATCH_FOLDER_H_

#include <filesystem>
#include <string>
#include <system_error>

#include "common/digest.h"
#include "gtest/gtest.h"

namespace ksearch {

// A scratch folder for one test, removed afterwards.
class ScratchFolder {
 public:
  ScratchFolder() : path_(testing::TempDir() + "ksearch-" + RandomHex(8)) {
    std::filesystem::create_directories(path_);
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  const std::string path_;
};

}  // namespace ksearch

#endif  // KSEARCH_TESTS_GPU_WORKER_SESSION_SCRATCH_FOLDER_H_
