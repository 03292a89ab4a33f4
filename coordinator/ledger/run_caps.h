#ifndef KSEARCH_COORDINATOR_LEDGER_RUN_CAPS_H_
#define KSEARCH_COORDINATOR_LEDGER_RUN_CAPS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/config.pb.h"

namespace ksearch {

// Caps of a whole run or of one model; absent: no cap.
struct ScopeCaps {
  std::optional<int64_t> nano_usd;
  std::optional<int64_t> calls;
  std::optional<int64_t> tokens;
  friend bool operator==(const ScopeCaps&, const ScopeCaps&) = default;
};

// A v1::Budget with its amounts parsed.
struct RunCaps {
  struct Model {
    std::string provider;  // empty: any
    std::string model;
    ScopeCaps caps;
  };
  ScopeCaps run;
  std::vector<Model> models;
  std::optional<absl::Duration> gpu_time;
  std::optional<absl::Duration> wall_time;

  // Returns the tightest of the caps that apply to the model.
  ScopeCaps ForModel(const std::string& provider, const std::string& model) const;
  // Returns true if any cap limits money: then every price must be known.
  bool caps_money() const;
};

// INVALID_ARGUMENT lists every field that cannot be parsed.
absl::StatusOr<RunCaps> ReadCaps(const v1::Budget& budget);

// Returns `base` with the caps that `given` sets replaced. Per-model caps are matched by (provider,
// model).
v1::Budget MergedBudget(v1::Budget base, const v1::Budget& given);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LEDGER_RUN_CAPS_H_
