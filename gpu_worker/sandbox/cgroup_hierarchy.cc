#include "gpu_worker/sandbox/cgroup_hierarchy.h"

#include <algorithm>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

struct Mount {
  std::string root;
  std::string point;
  bool unified = false;
  std::vector<std::string> controllers;  // v1: the options of the superblock
};

std::vector<Mount> CgroupMounts(absl::string_view mountinfo) {
  std::vector<Mount> mounts;
  for (absl::string_view line : absl::StrSplit(mountinfo, '\n', absl::SkipEmpty())) {
    const std::vector<absl::string_view> halves = absl::StrSplit(line, absl::MaxSplits(" - ", 1));
    if (halves.size() != 2) continue;
    const std::vector<absl::string_view> left = absl::StrSplit(halves[0], ' ');
    const std::vector<absl::string_view> right = absl::StrSplit(halves[1], ' ');
    if (left.size() < 5 || right.size() < 3) continue;
    if (right[0] != "cgroup" && right[0] != "cgroup2") continue;
    Mount mount;
    mount.root = std::string(left[3]);
    mount.point = std::string(left[4]);
    mount.unified = right[0] == "cgroup2";
    mount.controllers = absl::StrSplit(right[2], ',');
    mounts.push_back(std::move(mount));
  }
  return mounts;
}

// Path of this process in the v1 hierarchy of `controller`, or in v2 for "".
std::optional<std::string> OwnPath(absl::string_view self_cgroup, absl::string_view controller) {
  for (absl::string_view line : absl::StrSplit(self_cgroup, '\n', absl::SkipEmpty())) {
    const std::vector<absl::string_view> fields = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (fields.size() != 3) continue;
    const std::vector<absl::string_view> names = absl::StrSplit(fields[1], ',');
    if (std::find(names.begin(), names.end(), controller) != names.end()) {
      return std::string(fields[2]);
    }
  }
  return std::nullopt;
}

CgroupHierarchies::Place PlaceOf(const Mount& mount, const std::string& own_path) {
  // A container sees its own group as the root of the mount, under the host's name.
  absl::string_view below = own_path;
  if (mount.root != "/" && !absl::ConsumePrefix(&below, mount.root)) below = "";
  if (below == "/" || absl::StartsWith(below, "/..")) below = "";
  return {mount.point, absl::StrCat(mount.point, below)};
}

}  // namespace

std::string UnifiedMount(absl::string_view mountinfo) {
  for (const Mount& mount : CgroupMounts(mountinfo)) {
    if (mount.unified) return mount.point;
  }
  return "";
}

CgroupHierarchies ParseCgroupHierarchies(absl::string_view self_cgroup, absl::string_view mountinfo,
                                         absl::string_view v2_controllers) {
  const std::vector<Mount> mounts = CgroupMounts(mountinfo);
  CgroupHierarchies found;
  const std::vector<absl::string_view> offered =
      absl::StrSplit(v2_controllers, absl::ByAnyChar(" \n"), absl::SkipEmpty());
  const auto offers = [&offered](absl::string_view name) {
    return std::find(offered.begin(), offered.end(), name) != offered.end();
  };
  if (offers("memory") && offers("pids")) {
    const std::optional<std::string> own = OwnPath(self_cgroup, "");
    for (const Mount& mount : mounts) {
      if (!mount.unified || !own.has_value()) continue;
      found.version = "v2";
      found.places.push_back(PlaceOf(mount, *own));
      return found;
    }
  }
  for (const absl::string_view controller : {"memory", "pids"}) {
    const std::optional<std::string> own = OwnPath(self_cgroup, controller);
    const auto mount = std::find_if(mounts.begin(), mounts.end(), [&](const Mount& m) {
      return !m.unified && std::find(m.controllers.begin(), m.controllers.end(), controller) !=
                               m.controllers.end();
    });
    if (!own.has_value() || mount == mounts.end()) return CgroupHierarchies();
    const CgroupHierarchies::Place place = PlaceOf(*mount, *own);
    if (found.places.empty() || found.places[0].own != place.own) found.places.push_back(place);
  }
  found.version = "v1";
  return found;
}

CgroupHierarchies ReadCgroupHierarchies() {
  const std::string mountinfo = ReadFile("/proc/self/mountinfo", 4 << 20).value_or("");
  const std::string unified = UnifiedMount(mountinfo);
  const std::string controllers =
      unified.empty() ? "" : ReadFile(unified + "/cgroup.controllers", 4096).value_or("");
  return ParseCgroupHierarchies(ReadFile("/proc/self/cgroup", 1 << 20).value_or(""), mountinfo,
                                controllers);
}

}  // namespace ksearch
