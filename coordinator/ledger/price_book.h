#ifndef KSEARCH_COORDINATOR_LEDGER_PRICE_BOOK_H_
#define KSEARCH_COORDINATOR_LEDGER_PRICE_BOOK_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/config.pb.h"

namespace ksearch {

// The prices that a coordinator knows: from its price files, from its providers' settings, and
// those given with a run. A value type; constant after Load.
class PriceBook {
 public:
  // Reads every *.textproto in `folders`, ordered by name. INVALID_ARGUMENT lists every fault with
  // file and model.
  static absl::StatusOr<PriceBook> Load(const std::vector<std::string>& folders,
                                        const std::vector<v1::ModelProvider>& providers);

  // Returns the price of a model at a provider on the day of `now` (UTC). The first source that has
  // one counts: `given` (the run's own), the provider's `prices`, its `free`, the files. If none
  // has it, the basis is "unknown" and there are no rates. INVALID_ARGUMENT: an entry of `given`
  // cannot be parsed.
  absl::StatusOr<v1::ResolvedPrice> Find(
      const std::string& provider, const std::string& model,
      const google::protobuf::RepeatedPtrField<v1::ModelPrice>& given, absl::Time now) const;

  // Returns the FAILED_PRECONDITION error for a run with a money cap that uses a model without a
  // price. The message names the model, the files and the fix.
  absl::Status UnknownPrice(const std::string& provider, const std::string& model) const;

 private:
  struct Entry {
    std::string file;
    v1::ModelPrice price;
  };
  struct Provider {
    std::vector<v1::ModelPrice> prices;
    bool free = false;
  };
  std::vector<std::string> folders_;
  std::vector<std::string> files_;
  std::multimap<std::string, Entry> by_model_;
  std::map<std::string, Provider> providers_;
};

// Converts rates to integers. INVALID_ARGUMENT names the field.
absl::StatusOr<v1::ResolvedPrice::Rates> ResolveRates(const v1::TokenRates& rates);

// Formats as "$1.25 in, $0.125 cached, $10.00 out per million tokens (2026-08-27, https://...)".
std::string PriceText(const v1::ResolvedPrice& price);

// Sets `sha256`.
void SealPrices(v1::ResolvedPrices* prices);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LEDGER_PRICE_BOOK_H_
