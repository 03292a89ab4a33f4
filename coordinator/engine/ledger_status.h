#ifndef KSEARCH_COORDINATOR_ENGINE_LEDGER_STATUS_H_
#define KSEARCH_COORDINATOR_ENGINE_LEDGER_STATUS_H_

#include <vector>

#include "coordinator/store/rows.h"
#include "proto/search_service.pb.h"

namespace ksearch {

// Sets the fields that the store counts (lines, evaluations, gpu_time); leaves the rest unchanged.
void FillLedger(const std::vector<LedgerRow>& rows, v1::Ledger* ledger);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_ENGINE_LEDGER_STATUS_H_
