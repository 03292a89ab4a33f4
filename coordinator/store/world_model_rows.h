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

// What is stored of a run's newest tree: the bytes of every node and tombstone, by the numbers that
// their rows have. Kept from one step to the next, so that a step compares the tree with the one
// before it and reads nothing.
using Parts = std::map<int64_t, std::string>;

// Adds a revision. A revision that is there already stays; FAILED_PRECONDITION if the one there is
// another. `parts`: of the newest tree of the run, nullopt if nobody has read them; afterwards
// those of `model`, or, on an error, of no use.
absl::Status Insert(Database& database, const std::string& run_id, const v1::WorldModel& model,
                    std::optional<Parts>* parts);

// `revision` 0: the newest one. NOT_FOUND: there is none.
absl::StatusOr<v1::WorldModel> Read(Database& database, const std::string& run_id,
                                    int64_t revision);

}  // namespace ksearch::world_model_rows

#endif  // KSEARCH_COORDINATOR_STORE_WORLD_MODEL_ROWS_H_
