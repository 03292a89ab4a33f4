#ifndef KSEARCH_TESTS_INTEGRATION_PROCESS_FLEET_H_
#define KSEARCH_TESTS_INTEGRATION_PROCESS_FLEET_H_

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/integration/local_cluster.h"

namespace ksearch {

// A provider of workers for the autoscaler: a script whose workers are processes of this machine,
// known by files with their process ids. The destructor kills them.
class ProcessFleet {
 public:
  // `worker_args`: words of a shell that every worker gets in addition.
  explicit ProcessFleet(const LocalCluster& cluster, const std::string& worker_args = "")
      : folder_(cluster.folder()), script_(cluster.folder() + "/fleet.sh") {
    std::ofstream(script_) << absl::StrCat(
        "#!/bin/sh\ncd ", folder_, "\nmkdir -p fleet\ncase $1 in\n",
        "start) [ ! -e quota ] || { echo 'the quota of 0 GPUs is used up' >&2; exit 1; }\n",
        "  echo $2 >>started\n  export KSEARCH_INSTANCE=$2\n  env >worker-$2.environment\n",
        "  setsid bin/ksearch-worker --config ", cluster.worker_config(),
        " --coordinator $KSEARCH_COORDINATOR --state-dir $PWD/worker-$2 --name $2",
        " --idle-timeout 60s --leave-grace $KSEARCH_LEAVE_GRACE ", worker_args,
        " >>worker-$2.log 2>&1 </dev/null &\n  echo $! >fleet/$2 ;;\n",
        "list) for f in fleet/*; do [ -e $f ] || continue; if kill -0 $(cat $f) 2>/dev/null; then "
        "echo ${f#fleet/} running; else rm $f; fi; done ;;\n",
        "stop) kill -TERM $(cat fleet/$2) 2>/dev/null || true ;;\n",
        "kill) kill -KILL $(cat fleet/$2) 2>/dev/null || true ;;\nesac\n");
    ::chmod(script_.c_str(), 0755);
  }
  ~ProcessFleet() {
    // The script's workers are not children of this process.
    RunProgram(
        {"/bin/sh", "-c",
         absl::StrCat("cd ", folder_,
                      " && for f in fleet/*; do kill -KILL $(cat $f); done 2>/dev/null; true")});
  }
  ProcessFleet(const ProcessFleet&) = delete;
  ProcessFleet& operator=(const ProcessFleet&) = delete;

  const std::string& script() const { return script_; }
  // Whether to refuse starts from now on, like a scheduler whose quota is 0.
  void RefuseStarts(bool refuse) {
    if (refuse) {
      std::ofstream(folder_ + "/quota").flush();
    } else {
      std::filesystem::remove(folder_ + "/quota");
    }
  }
  // How many instances were started in all.
  int started() const {
    std::ifstream lines(folder_ + "/started");
    int count = 0;
    for (std::string line; std::getline(lines, line);) ++count;
    return count;
  }
  // The last instance, and its files in the cluster's folder: "log", "environment".
  std::string last() const {
    std::ifstream lines(folder_ + "/started");
    std::string last;
    for (std::string line; std::getline(lines, line);) last = std::move(line);
    return last;
  }
  std::string Read(const std::string& instance, const std::string& what) const {
    std::ifstream text(absl::StrCat(folder_, "/worker-", instance, ".", what));
    return std::string(std::istreambuf_iterator<char>(text), {});
  }

 private:
  const std::string folder_;
  const std::string script_;
};

}  // namespace ksearch

#endif  // KSEARCH_TESTS_INTEGRATION_PROCESS_FLEET_H_
