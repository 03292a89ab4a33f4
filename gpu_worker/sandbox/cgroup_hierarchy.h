#ifndef KSEARCH_GPU_WORKER_SANDBOX_CGROUP_HIERARCHY_H_
#define KSEARCH_GPU_WORKER_SANDBOX_CGROUP_HIERARCHY_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace ksearch {

// This process's place in the control group hierarchies that can limit memory and processes.
struct CgroupHierarchies {
  std::string version = "none";  // "v2", "v1" or "none"
  struct Place {
    std::string mount;  // mount point of the hierarchy
    std::string own;    // folder of this process's group
  };
  std::vector<Place> places;  // v2: one; v1: one for memory, one for pids (one if they are joined)
};

// `self_cgroup` and `mountinfo` are the texts of /proc/self/cgroup and /proc/self/mountinfo;
// `v2_controllers` is that of cgroup.controllers in the v2 mount ("": unreadable). Pure. Prefers v2
// if it has both controllers.
CgroupHierarchies ParseCgroupHierarchies(absl::string_view self_cgroup, absl::string_view mountinfo,
                                         absl::string_view v2_controllers);

// The same for this process at present.
CgroupHierarchies ReadCgroupHierarchies();

// Returns the mount point of the first cgroup2 mount, or "".
std::string UnifiedMount(absl::string_view mountinfo);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_SANDBOX_CGROUP_HIERARCHY_H_
