#ifndef KSEARCH_TESTS_AUTOSCALER_SSH_HOST_H_
#define KSEARCH_TESTS_AUTOSCALER_SSH_HOST_H_

#include <memory>
#include <string>
#include <vector>

#include "common/subprocess.h"

namespace ksearch {

// A real host: OpenSSH's server on a loopback port, with its own key. It accepts the client key
// that is made with it, and runs commands as this process's account. Keys and configuration are in
// `folder`.
class SshHost {
 public:
  // Why this machine cannot run one; empty: it can.
  static std::string WhyNot();

  explicit SshHost(const std::string& folder);

  void Start();
  void Stop() { server_.reset(); }
  // For SshFleet.ssh_args: port, key, and the host's key as the only one that is known.
  std::vector<std::string> Arguments() const;
  // The same for a client whose key the host does not know, or that does not know the host.
  std::vector<std::string> StrangersArguments() const;
  std::vector<std::string> UnknownHostArguments() const;
  std::string Log() const;

 private:
  std::vector<std::string> With(const std::string& key, const std::string& known_hosts) const;
  void MakeKey(const std::string& name);

  const std::string folder_;
  int port_ = 0;
  std::unique_ptr<Subprocess> server_;
};

}  // namespace ksearch

#endif  // KSEARCH_TESTS_AUTOSCALER_SSH_HOST_H_
