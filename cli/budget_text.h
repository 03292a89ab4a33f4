#ifndef KSEARCH_CLI_BUDGET_TEXT_H_
#define KSEARCH_CLI_BUDGET_TEXT_H_

#include <cstdint>
#include <string>

#include "proto/search_service.pb.h"

namespace ksearch {

// "$0.0213"
std::string MoneyText(int64_t nano_usd);
// Usage and caps of a run in a few lines.
std::string LedgerText(const v1::Ledger& ledger);
// "tokens: 1200 + 300 reported by the providers; ...", one line; empty if there was no call.
std::string TokensText(const v1::RunStatus& status);
// An estimate as a table, with its assumptions.
std::string EstimateText(const v1::RunEstimate& estimate);

}  // namespace ksearch

#endif  // KSEARCH_CLI_BUDGET_TEXT_H_
