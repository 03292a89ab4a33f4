#ifndef KSEARCH_COORDINATOR_SUITES_LIES_BELOW_H_
#define KSEARCH_COORDINATOR_SUITES_LIES_BELOW_H_

#include <filesystem>

namespace ksearch {

// Returns true if `path` is in the folder `root` or one below it. Both must be canonical.
inline bool LiesBelow(const std::filesystem::path& path, const std::filesystem::path& root) {
  const std::filesystem::path relative = path.lexically_relative(root);
  return !relative.empty() && *relative.begin() != ".." && !relative.is_absolute();
}

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_LIES_BELOW_H_
