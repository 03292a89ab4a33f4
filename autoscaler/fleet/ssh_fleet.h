#ifndef KSEARCH_AUTOSCALER_FLEET_SSH_FLEET_H_
#define KSEARCH_AUTOSCALER_FLEET_SSH_FLEET_H_

#include <map>
#include <memory>
#include <set>
#include <string>

#include "autoscaler/fleet/fleet_provider.h"
#include "proto/autoscaler.pb.h"

namespace ksearch {

// Workers on existing machines, started over ssh with the keys of the user who runs this process.
// One worker per host; the instance's id is the host's name, with '_' for characters that are not
// allowed in ids. A host that does not respond is skipped for a while in favor of another one.
class SshFleet final : public FleetProvider {
 public:
  static absl::StatusOr<std::unique_ptr<FleetProvider>> Create(const v1::WorkerPool& pool);

  absl::StatusOr<Fleet> List() override;
  absl::Status Start(int count) override;
  absl::Status Stop(const std::string& id, Manner manner) override;
  std::string Plan() const override;
  std::string LogOf(const std::string& id) const override;

 private:
  explicit SshFleet(const v1::WorkerPool& pool);
  // Runs the script on the host with a POSIX shell.
  absl::StatusOr<std::string> Shell(const std::string& host, const std::string& script) const;
  // Copies the bundle to the host unless it is already there.
  absl::Status Copy(const std::string& host) const;
  std::string StartScript(const std::string& id) const;
  std::string Folder() const;

  const v1::WorkerPool pool_;
  std::map<std::string, std::string> hosts_;  // by instance id
  std::string bundle_sha256_;
  std::set<std::string> running_;  // ids at the last List
  std::set<std::string> tried_;    // ids whose start failed; they are tried after all others
  bool listed_ = false;
};

}  // namespace ksearch

#endif  // KSEARCH_AUTOSCALER_FLEET_SSH_FLEET_H_
