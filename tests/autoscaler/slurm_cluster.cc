#include "tests/autoscaler/slurm_cluster.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "common/digest.h"
#include "common/unique_fd.h"
#include "tests/autoscaler/free_port.h"

namespace ksearch {
namespace {

std::string HostName() {
  char name[256] = {};
  if (::gethostname(name, sizeof name - 1) != 0) return "localhost";
  return std::string(name).substr(0, std::string(name).find('.'));
}

}  // namespace

std::string SlurmCluster::WhyNot() {
  if (::geteuid() != 0) return "slurmd needs root";
  for (const char* program : {"munged", "slurmctld", "slurmd", "sbatch", "squeue"}) {
    bool found = false;
    for (const char* folder : {"/usr/sbin/", "/usr/bin/"}) {
      found |= ::access(absl::StrCat(folder, program).c_str(), X_OK) == 0;
    }
    if (!found)
      return absl::StrCat(program, " is not installed (deploy/install_deps.sh --with-slurm)");
  }
  return "";
}

SlurmCluster::SlurmCluster(const std::string& folder) : folder_(folder) {
  for (const char* name : {"", "/state", "/spool", "/munge"}) {
    std::filesystem::create_directories(folder_ + name);
  }
  ::chmod((folder_ + "/munge").c_str(), 0755);
  const std::string key = folder_ + "/munge/key";
  {
    // Only this account may read it, from the first byte on.
    const UniqueFd file(::open(key.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    const std::string secret = RandomHex(64);
    EXPECT_EQ(::write(file.get(), secret.data(), secret.size()),
              static_cast<ssize_t>(secret.size()));
  }
  const std::string socket = folder_ + "/munge/socket";
  Start("munged", {"/usr/sbin/munged", "--foreground", "--force", "--key-file", key, "--socket",
                   socket, "--pid-file", folder_ + "/munge/pid", "--log-file",
                   folder_ + "/munge/log", "--seed-file", folder_ + "/munge/seed"});
  const std::string host = HostName();
  std::ofstream(config()) << absl::StrCat(
      "ClusterName=test\nSlurmctldHost=", host, "(127.0.0.1)\nSlurmctldPort=", FreePort(),
      "\nSlurmUser=root\nSlurmdUser=root\nAuthType=auth/munge\nAuthInfo=socket=", socket,
      "\nCommunicationParameters=NoInAddrAny,NoCtldInAddrAny\nMpiDefault=none\n"
      "ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nReturnToService=2\nKillWait=5\n"
      "StateSaveLocation=",
      folder_, "/state\nSlurmdSpoolDir=", folder_, "/spool/%n\nSlurmctldPidFile=", folder_,
      "/slurmctld.pid\nSlurmdPidFile=", folder_, "/slurmd-%n.pid\nSlurmctldLogFile=", folder_,
      "/slurmctld.log\nSlurmdLogFile=", folder_,
      "/slurmd-%n.log\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n"
      "AccountingStorageType=accounting_storage/none\nJobAcctGatherType=jobacct_gather/none\n"
      "JobCompType=jobcomp/none\nSchedulerParameters=sched_interval=1,batch_sched_delay=0\n"
      "GresTypes=gpu\nNodeName=n1 NodeHostname=",
      host, " NodeAddr=127.0.0.1 Port=", FreePort(),
      " CPUs=2 RealMemory=1000 Gres=gpu:fake:1 State=UNKNOWN\nNodeName=n2 NodeHostname=", host,
      " NodeAddr=127.0.0.1 Port=", FreePort(),
      " CPUs=2 RealMemory=1000 Gres=gpu:fake:1 State=UNKNOWN\n"
      "PartitionName=gpu Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP\n");
  std::ofstream(folder_ + "/gres.conf") << "NodeName=n1 Name=gpu Type=fake File=/dev/zero\n"
                                           "NodeName=n2 Name=gpu Type=fake File=/dev/full\n";
  std::ofstream(folder_ + "/cgroup.conf") << "CgroupPlugin=cgroup/v1\n";
  for (int i = 0; i < 500 && !std::filesystem::exists(socket); ++i) {
    absl::SleepFor(absl::Milliseconds(20));
  }
  Start("slurmctld", {"/usr/sbin/slurmctld", "-D", "-c", "-f", config()});
  for (const char* node : {"n1", "n2"}) {
    Start(node, {"/usr/sbin/slurmd", "-D", "-N", node, "-f", config()});
  }
}

SlurmCluster::~SlurmCluster() {
  // Jobs are children of slurmstepd, which has its own process group.
  Run({"scancel", "--full", "--signal=KILL", "--user=root"});
  Run({"scancel", "--user=root"});
  for (int i = 0; i < 100 && !Queue("%i").empty(); ++i) absl::SleepFor(absl::Milliseconds(100));
  if (testing::Test::HasFailure()) {
    for (const char* log : {"slurmctld.log", "slurmd-n1.log", "slurmd-n2.log"}) {
      std::ifstream text(folder_ + "/" + log);
      std::fprintf(stderr, "---- %s\n%s\n", log,
                   std::string(std::istreambuf_iterator<char>(text), {}).c_str());
    }
  }
  processes_.erase("n1");
  processes_.erase("n2");
  processes_.erase("slurmctld");
  processes_.clear();
}

void SlurmCluster::Start(const std::string& name, std::vector<std::string> argv) {
  SubprocessOptions options;
  options.argv = std::move(argv);
  options.environment = {{"PATH", "/usr/sbin:/usr/bin:/sbin:/bin"}, {"SLURM_CONF", config()}};
  auto process = Subprocess::Start(options);
  ASSERT_TRUE(process.ok()) << process.status();
  processes_[name] = *std::move(process);
}

absl::Status SlurmCluster::AwaitReady() {
  std::string said;
  for (int i = 0; i < 300; ++i) {
    const CommandOutput nodes = Run({"sinfo", "--noheader", "--Node", "--format=%N %t"});
    said = nodes.out + nodes.err;
    if (nodes.out == "n1 idle\nn2 idle\n") return absl::OkStatus();
    absl::SleepFor(absl::Milliseconds(200));
  }
  return absl::DeadlineExceededError(absl::StrCat("the nodes are not idle: ", said));
}

CommandOutput SlurmCluster::Run(const std::vector<std::string>& argv) const {
  SubprocessOptions options;
  options.argv = argv;
  options.environment = {{"PATH", "/usr/sbin:/usr/bin:/sbin:/bin"}, {"SLURM_CONF", config()}};
  auto output = RunCommand(options, absl::Seconds(60));
  EXPECT_TRUE(output.ok()) << output.status();
  return output.ok() ? *std::move(output) : CommandOutput{};
}

std::vector<std::string> SlurmCluster::Queue(const std::string& format) const {
  return absl::StrSplit(Run({"squeue", "--noheader", "--array", "--format=" + format}).out, '\n',
                        absl::SkipWhitespace());
}

}  // namespace ksearch
