#ifndef KSEARCH_COORDINATOR_SERVICE_STORE_DESCRIPTIONS_H_
#define KSEARCH_COORDINATOR_SERVICE_STORE_DESCRIPTIONS_H_

#include <optional>

#include "coordinator/store/store.h"
#include "coordinator/suites/describe_job.h"

namespace ksearch {

// Finds descriptions among the results of a store, which is borrowed.
class StoreDescriptions final : public Descriptions {
 public:
  explicit StoreDescriptions(Store* store) : store_(store) {}
  absl::StatusOr<std::optional<v1::JobResult>> Find(const ProblemProgram& program) const override;

 private:
  Store* const store_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SERVICE_STORE_DESCRIPTIONS_H_
