#ifndef KSEARCH_AUTOSCALER_FLEET_COMMAND_FLEET_H_
#define KSEARCH_AUTOSCALER_FLEET_COMMAND_FLEET_H_

#include <memory>
#include <string>
#include <vector>

#include "autoscaler/fleet/fleet_provider.h"
#include "proto/autoscaler.pb.h"

namespace ksearch {

// Starts and stops workers with a program of the user's (see v1::CommandFleet).
class CommandFleet final : public FleetProvider {
 public:
  static absl::StatusOr<std::unique_ptr<FleetProvider>> Create(const v1::WorkerPool& pool);

  absl::StatusOr<Fleet> List() override;
  absl::Status Start(int count) override;
  absl::Status Stop(const std::string& id, Manner manner) override;
  std::string Plan() const override;
  std::string LogOf(const std::string&) const override { return ""; }

 private:
  explicit CommandFleet(const v1::WorkerPool& pool) : pool_(pool) {}
  absl::StatusOr<std::string> Call(std::vector<std::string> words) const;

  const v1::WorkerPool pool_;
};

}  // namespace ksearch

#endif  // KSEARCH_AUTOSCALER_FLEET_COMMAND_FLEET_H_
