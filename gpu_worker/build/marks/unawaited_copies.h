#ifndef KSEARCH_GPU_WORKER_BUILD_MARKS_UNAWAITED_COPIES_H_
#define KSEARCH_GPU_WORKER_BUILD_MARKS_UNAWAITED_COPIES_H_

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gpu_worker/build/marks/code_words.h"

namespace ksearch {

// Finds asynchronous copies in a CUDA program that waits for none of their kind anywhere. By the
// PTX ISA (cp.async, cp.async.bulk), what such a load brings may not be there when it is read, and
// a block that ends before its bulk stores have read its shared memory leaves that memory to
// another block. Mostly the outputs are right all the same, so that no test shows it. A wait in the
// wrong place is not found. Loads in bulk are not looked at: they complete at an mbarrier, on which
// threads wait in many ways.
class UnawaitedCopies {
 public:
  struct Copy {
    std::string word;
    std::string path;
    int line = 0;
  };

  // Called once for each file.
  void Read(const std::string& path, const std::vector<CodeWord>& words);
  // The first copy, by kind and place, that is not awaited.
  std::optional<Copy> First() const;

 private:
  std::vector<std::optional<Copy>> begun_;  // by kind; empty before the first file
  std::set<size_t> awaited_;                // kinds
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_BUILD_MARKS_UNAWAITED_COPIES_H_
