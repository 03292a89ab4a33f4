#include "coordinator/engine/ledger_status.h"

#include "absl/time/time.h"
#include "common/textproto.h"

namespace ksearch {

void FillLedger(const std::vector<LedgerRow>& rows, v1::Ledger* ledger) {
  ledger->clear_lines();
  for (const LedgerRow& row : rows) {
    v1::LedgerLine* line = ledger->add_lines();
    line->set_scope(row.scope);
    line->set_llm_calls(row.calls);
    line->set_tokens_spent(row.tokens_spent);
    line->set_tokens_reserved(row.tokens_reserved);
    line->set_nano_usd_spent(row.nano_spent);
    line->set_nano_usd_reserved(row.nano_reserved);
    if (row.caps.calls.has_value()) line->set_llm_calls_cap(*row.caps.calls);
    if (row.caps.tokens.has_value()) line->set_tokens_cap(*row.caps.tokens);
    if (row.caps.nano_usd.has_value()) line->set_nano_usd_cap(*row.caps.nano_usd);
    if (!row.scope.empty()) continue;
    ledger->set_evaluations(row.evaluations);
    *ledger->mutable_gpu_time() = ToProto(absl::Microseconds(row.device_us));
    ledger->set_device_nano_usd(row.device_nano);
  }
}

}  // namespace ksearch
