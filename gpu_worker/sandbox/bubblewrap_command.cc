#include <sys/stat.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "gpu_worker/sandbox/bubblewrap_sandbox.h"

namespace ksearch {
namespace {

class CommandLine {
 public:
  template <typename... Words>
  void Add(const Words&... words) {
    (words_.push_back(absl::StrCat(words)), ...);
  }
  std::vector<std::string> Take() { return std::move(words_); }

 private:
  std::vector<std::string> words_;
};

// With merged /usr these are links; older layouts have separate folders.
void AddSystemFolder(const std::string& name, CommandLine* command) {
  struct stat status;
  const std::string path = absl::StrCat("/", name);
  if (::lstat(path.c_str(), &status) != 0) return;
  if (S_ISLNK(status.st_mode)) {
    command->Add("--symlink", absl::StrCat("usr/", name), path);
  } else {
    command->Add("--ro-bind", path, path);
  }
}

}  // namespace

std::vector<std::string> BubblewrapCommand(const SandboxSpec& spec,
                                           const std::string& bubblewrap_path,
                                           const std::string& prlimit_path, int filter_fd,
                                           int status_fd) {
  CommandLine command;
  command.Add(bubblewrap_path, "--unshare-all", "--unshare-user", "--disable-userns",
              "--assert-userns-disabled", "--die-with-parent");
  // One with a niceness is in a session of its own already, which has it.
  if (spec.niceness == 0) command.Add("--new-session");
  command.Add("--cap-drop", "ALL", "--uid", "65534", "--gid", "65534", "--hostname", "sandbox");
  command.Add("--clearenv", "--setenv", "PATH", "/usr/bin", "--setenv", "HOME", "/tmp");
  // There is no list of accounts: programs that ask for their own name look here.
  command.Add("--setenv", "USER", "sandbox");
  for (const auto& [name, value] : spec.environment) command.Add("--setenv", name, value);
  command.Add("--ro-bind", "/usr", "/usr");
  for (const char* name : {"lib", "lib64", "bin"}) AddSystemFolder(name, &command);
  // Compilers are found through /etc/alternatives, libraries outside the default folders through
  // the loader's cache. Neither holds secrets.
  command.Add("--ro-bind-try", "/etc/alternatives", "/etc/alternatives");
  command.Add("--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache");
  command.Add("--proc", "/proc", "--dev", "/dev");
  // The first process inside is bubblewrap's own: it runs as the sandbox's account, but without all
  // filters. An empty folder hides its memory.
  command.Add("--size", 4096, "--tmpfs", "/proc/1", "--remount-ro", "/proc/1");
  command.Add("--size", spec.tmp_bytes, "--tmpfs", "/tmp");
  command.Add("--size", spec.tmp_bytes, "--tmpfs", "/dev/shm");
  for (const SandboxSpec::Bind& bind : spec.binds) {
    command.Add(bind.device ? "--dev-bind" : (bind.writable ? "--bind" : "--ro-bind"),
                bind.host_path, bind.inside_path);
  }
  // After the last bind, so that nothing can be added beside the bound files.
  command.Add("--remount-ro", "/dev", "--remount-ro", "/");
  command.Add("--chdir", spec.working_directory);
  command.Add("--seccomp", filter_fd, "--json-status-fd", status_fd, "--");
  // The limit on processes is set inside: outside it would count everything the worker's account
  // runs on this machine.
  command.Add(prlimit_path, absl::StrCat("--nproc=", spec.max_processes, ":", spec.max_processes),
              "--");
  for (const std::string& word : spec.argv) command.Add(word);
  return command.Take();
}

}  // namespace ksearch
