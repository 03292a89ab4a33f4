#ifndef KSEARCH_AUTOSCALER_FLEET_SSH_FLEET_H_
#define KSEARCH_AUTOSCALER_FLEET_SSH_FLEET_H_

#include <map>
#include <memory>
#include <set>
#include <string>

#include "autoscaler/fleet/fleet_provider.h"
#include "proto/autoscaler.pb.h"

namespace ksearch {

// Workers on existing machines, started over ssh with the keys of the user who runs this. One
// worker per host; the instance's id is the host's name, with '_' for characters that an id may not
// have. A host that does not answer is skipped for a while, so that another takes its place.
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
  // Runs the script there with a POSIX shell.
  absl::StatusOr<std::string> Shell(const std::string& host, const std::string& script) const;
  // Copies the bundle to the host unless it is there.
  absl::Status Copy(const std::string& host) const;
  std::string StartScript(const std::string& id) const;
  std::string Folder() const;

  const v1::WorkerPool pool_;
  std::map<std::string, std::string> hosts_;  // by instance id
  std::string bundle_sha256_;
  std::set<std::string> running_;  // ids, as of the last List
  std::set<std::string> tried_;    // ids whose start failed: last in the row
  bool listed_ = false;
};

}  // namespace ksearch

#endif  // KSEARCH_AUTOSCALER_FLEET_SSH_FLEET_H_
