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

// Caps of the run as a whole or of one model; absent: none.
struct ScopeCaps {
  std::optional<int64_t> nano_usd;
  std::optional<int64_t> calls;
  std::optional<int64_t> tokens;
  friend bool operator==(const ScopeCaps&, const ScopeCaps&) = default;
};

// A Budget with its amounts read.
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

  // The tightest caps that name the model.
  ScopeCaps ForModel(const std::string& provider, const std::string& model) const;
  // Whether money is capped anywhere: then every price must be known.
  bool caps_money() const;
};

// INVALID_ARGUMENT lists every field that cannot be read.
absl::StatusOr<RunCaps> ReadCaps(const v1::Budget& budget);

// `base` with the caps that `given` names in their place; per-model caps by (provider, model).
v1::Budget MergedBudget(v1::Budget base, const v1::Budget& given);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LEDGER_RUN_CAPS_H_
