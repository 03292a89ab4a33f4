#include "tests/autoscaler/ssh_host.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "common/unique_fd.h"
#include "tests/autoscaler/free_port.h"
#include "tests/fakes/eventually.h"

namespace ksearch {
namespace {

constexpr char kServer[] = "/usr/sbin/sshd";
// The server requires an empty folder here if it runs as root.
constexpr char kSeparation[] = "/run/sshd";

bool Listens(int port) {
  const UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  return ::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
}

std::string Text(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

std::string SshHost::WhyNot() {
  for (const char* program : {kServer, "/usr/bin/ssh", "/usr/bin/ssh-keygen"}) {
    if (::access(program, X_OK) != 0) {
      return absl::StrCat(program, " is not installed (deploy/install_deps.sh --with-ssh-server)");
    }
  }
  if (::geteuid() == 0 && ::access(kSeparation, F_OK) != 0 && ::mkdir(kSeparation, 0755) != 0) {
    return absl::StrCat("there is no ", kSeparation);
  }
  return "";
}

SshHost::SshHost(const std::string& folder) : folder_(folder), port_(FreePort()) {
  std::filesystem::create_directories(folder_);
  ::chmod(folder_.c_str(), 0700);
  for (const char* name : {"host", "user", "stranger", "other_host"}) MakeKey(name);
  std::filesystem::copy_file(folder_ + "/user.pub", folder_ + "/authorized_keys");
  for (const char* name : {"host", "other_host"}) {
    std::ofstream(absl::StrCat(folder_, "/knows_", name))
        << "[127.0.0.1]:" << port_ << " " << Text(absl::StrCat(folder_, "/", name, ".pub"));
  }
  std::ofstream(folder_ + "/config") << absl::StrCat(
      "Port ", port_, "\nListenAddress 127.0.0.1\nHostKey ", folder_, "/host\nAuthorizedKeysFile ",
      folder_, "/authorized_keys\nPidFile ", folder_,
      "/pid\nUsePAM no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n"
      "PermitRootLogin prohibit-password\nStrictModes no\nPrintMotd no\nLogLevel VERBOSE\n");
  Start();
}

void SshHost::MakeKey(const std::string& name) {
  SubprocessOptions options;
  options.argv = {
      "/usr/bin/ssh-keygen",           "-q", "-t", "ed25519", "-N", "", "-C", name, "-f",
      absl::StrCat(folder_, "/", name)};
  const auto made = RunCommand(options, absl::Seconds(60));
  ASSERT_TRUE(made.ok()) << made.status();
  ASSERT_EQ(made->exit.code, 0) << made->err;
}

void SshHost::Start() {
  SubprocessOptions options;
  options.argv = {kServer, "-D", "-f", folder_ + "/config", "-E", folder_ + "/log"};
  options.environment = {{"PATH", "/usr/sbin:/usr/bin:/sbin:/bin"}};
  auto server = Subprocess::Start(options);
  ASSERT_TRUE(server.ok()) << server.status();
  server_ = *std::move(server);
  EXPECT_TRUE(Eventually([this] { return Listens(port_); })) << Log();
}

std::vector<std::string> SshHost::With(const std::string& key,
                                       const std::string& known_hosts) const {
  return {"-F", "none",
          "-p", absl::StrCat(port_),
          "-i", absl::StrCat(folder_, "/", key),
          "-o", "IdentitiesOnly=yes",
          "-o", "StrictHostKeyChecking=yes",
          "-o", "GlobalKnownHostsFile=none",
          "-o", absl::StrCat("UserKnownHostsFile=", folder_, "/", known_hosts)};
}

std::vector<std::string> SshHost::Arguments() const { return With("user", "knows_host"); }
std::vector<std::string> SshHost::StrangersArguments() const {
  return With("stranger", "knows_host");
}
std::vector<std::string> SshHost::UnknownHostArguments() const {
  return With("user", "knows_other_host");
}

std::string SshHost::Log() const { return Text(folder_ + "/log"); }

}  // namespace ksearch
