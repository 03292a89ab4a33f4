#ifndef KSEARCH_AUTOSCALER_SPENDING_H_
#define KSEARCH_AUTOSCALER_SPENDING_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace ksearch {

// Parses decimal US dollars such as "2.49" into billionths. INVALID_ARGUMENT for anything else,
// more than 9 digits after the point, or more than a million dollars.
absl::StatusOr<int64_t> ParseUsd(absl::string_view text);

// The accumulated cost of pools, stored in a file. Thread-compatible.
class Spending {
 public:
  // Reads the file if it exists. Errors name it.
  static absl::StatusOr<Spending> Open(const std::string& path);

  // Adds the cost of `instances` that ran for `time`. Stored by the next Save.
  void Add(const std::string& pool, int instances, absl::Duration time, int64_t nano_usd_per_hour);
  int64_t Of(const std::string& pool) const;
  // Writes the file if anything has changed.
  absl::Status Save();

 private:
  explicit Spending(std::string path) : path_(std::move(path)) {}

  std::string path_;
  std::map<std::string, int64_t> nano_usd_;  // by pool
  bool changed_ = false;
};

}  // namespace ksearch

#endif  // KSEARCH_AUTOSCALER_SPENDING_H_
