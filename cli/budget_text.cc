#include "cli/budget_text.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "cli/text.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

std::string SecondsText(const google::protobuf::Duration& time) {
  return absl::StrFormat("%.1f s", absl::ToDoubleSeconds(FromProto(time)));
}

std::string OfCap(const std::string& used, bool capped, const std::string& cap) {
  return capped ? absl::StrCat(used, " of ", cap) : used;
}

}  // namespace

std::string MoneyText(int64_t nano_usd) {
  const double dollars = static_cast<double>(nano_usd) * 1e-9;
  return dollars < 0.1 && nano_usd != 0 ? absl::StrFormat("$%.6f", dollars)
                                        : absl::StrFormat("$%.2f", dollars);
}

std::string LedgerText(const v1::Ledger& ledger) {
  if (ledger.lines_size() == 0) return "";
  std::vector<std::vector<std::string>> rows = {{"used", "calls", "tokens", "money", "in flight"}};
  for (const v1::LedgerLine& line : ledger.lines()) {
    rows.push_back({line.scope().empty() ? "run" : line.scope(),
                    OfCap(absl::StrCat(line.llm_calls()), line.has_llm_calls_cap(),
                          absl::StrCat(line.llm_calls_cap())),
                    OfCap(absl::StrCat(line.tokens_spent()), line.has_tokens_cap(),
                          absl::StrCat(line.tokens_cap())),
                    OfCap(MoneyText(line.nano_usd_spent()), line.has_nano_usd_cap(),
                          MoneyText(line.nano_usd_cap())),
                    line.tokens_reserved() == 0
                        ? "-"
                        : absl::StrCat("up to ", line.tokens_reserved(), " tokens, ",
                                       MoneyText(line.nano_usd_reserved()))});
  }
  std::string text = Table(rows);
  absl::StrAppend(&text, ledger.evaluations(), " evaluations; ",
                  OfCap(SecondsText(ledger.gpu_time()), ledger.has_gpu_time_cap(),
                        SecondsText(ledger.gpu_time_cap())),
                  " on devices",
                  ledger.device_nano_usd() == 0
                      ? ""
                      : absl::StrCat(" (", MoneyText(ledger.device_nano_usd()), ")"),
                  "; ",
                  OfCap(SecondsText(ledger.wall_time()), ledger.has_wall_time_cap(),
                        SecondsText(ledger.wall_time_cap())),
                  " active\n");
  if (ledger.unpriced()) {
    absl::StrAppend(&text, "a model has no known price: the true cost is higher\n");
  }
  return text;
}

std::string TokensText(const v1::RunStatus& status) {
  if (status.llm_calls() == 0) return "";
  const int64_t reported = status.input_tokens() + status.output_tokens();
  const int64_t counted =
      status.ledger().lines_size() > 0 ? status.ledger().lines(0).tokens_spent() : reported;
  std::string text = absl::StrCat("tokens: ", status.input_tokens(), " + ", status.output_tokens(),
                                  " reported by the providers");
  if (counted > reported) {
    absl::StrAppend(&text, "; ", counted - reported,
                    " more are counted for calls of which no usage is known, an upper bound");
  }
  return text + "\n";
}

std::string EstimateText(const v1::RunEstimate& estimate) {
  std::vector<std::vector<std::string>> rows = {
      {"role", "model", "calls", "input", "output", "money", "at worst"}};
  std::vector<std::string> prices;
  for (const v1::RunEstimate::Line& line : estimate.lines()) {
    const std::string model = absl::StrCat(line.provider(), "/", line.model());
    rows.push_back({line.role(), model, absl::StrFormat("%.1f", line.llm_calls()),
                    absl::StrFormat("%.0f", line.input_tokens()),
                    absl::StrFormat("%.0f", line.output_tokens()), MoneyText(line.nano_usd()),
                    MoneyText(line.nano_usd_worst())});
    const std::string price = absl::StrCat(model, ": ", line.price());
    if (prices.empty() || prices.back() != price) prices.push_back(price);
  }
  std::string text = Table(rows);
  absl::StrAppend(&text, "\nestimated: ", MoneyText(estimate.nano_usd()), "; at worst ",
                  MoneyText(estimate.nano_usd_worst()), ". No model was asked.\n\nprices\n  ",
                  absl::StrJoin(prices, "\n  "), "\n\nassumptions\n");
  for (const std::string& assumption : estimate.assumptions()) {
    absl::StrAppend(&text, "  ", assumption, "\n");
  }
  return text;
}

}  // namespace ksearch
