#ifndef KSEARCH_COORDINATOR_EVENTS_SINKS_WANDB_LOG_H_
#define KSEARCH_COORDINATOR_EVENTS_SINKS_WANDB_LOG_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace ksearch::sinks {

// The framing of a `.wandb` file (wandb/sdk/internal/datastore.py): a header of 7 bytes, then
// records in blocks of 32 KiB as in LevelDB's log. Each piece of a record is preceded by 7 bytes:
// CRC-32 (IEEE, of type and data), length (u16), type (1 whole, 2 first, 3 middle, 4 last),
// little-endian. No piece crosses a block; fewer than 7 bytes at a block's end are zeros.
class WandbLog {
 public:
  // The bytes that a file begins with.
  std::string Begin();
  // The bytes of one more record.
  std::string Add(absl::string_view record);

 private:
  static constexpr int64_t kBlockBytes = 32768;
  static constexpr int64_t kHeaderBytes = 7;

  int64_t in_block_ = 0;
};

}  // namespace ksearch::sinks

#endif  // KSEARCH_COORDINATOR_EVENTS_SINKS_WANDB_LOG_H_
