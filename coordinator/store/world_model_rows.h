#ifndef KSEARCH_COORDINATOR_STORE_WORLD_MODEL_ROWS_H_
#define KSEARCH_COORDINATOR_STORE_WORLD_MODEL_ROWS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordinator/store/database.h"
#include "proto/world_model.pb.h"

namespace ksearch::world_model_rows {

// The stored parts of a run's newest tree: the bytes of every node and tombstone, by row number.
// Kept from one step to the next, so that a step compares the tree with the previous one and reads
// nothing.
using Parts = std::map<int64_t, std::string>;

// Adds a revision. An equal existing revision stays; FAILED_PRECONDITION if the existing one
// differs. `parts`: those of the run's newest tree, or nullopt if they have not been read;
// afterwards those of `model`. Unspecified after an error.
absl::Status Insert(Database& database, const std::string& run_id, const v1::WorldModel& model,
                    std::optional<Parts>* parts);

// `revision` 0: the newest one. NOT_FOUND: no such revision.
absl::StatusOr<v1::WorldModel> Read(Database& database, const std::string& run_id,
                                    int64_t revision);

}  // namespace ksearch::world_model_rows

#endif  // KSEARCH_COORDINATOR_STORE_WORLD_MODEL_ROWS_H_
