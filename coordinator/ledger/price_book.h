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

// The prices a coordinator knows: those of its price files, of its providers' own settings, and for
// one run those given with it. A value; constant after Load.
class PriceBook {
 public:
  // Reads every *.textproto of `folders`, in order of name. INVALID_ARGUMENT lists every fault with
  // file and model.
  static absl::StatusOr<PriceBook> Load(const std::vector<std::string>& folders,
                                        const std::vector<v1::ModelProvider>& providers);

  // The price of a model at a provider on the day of `now` (UTC). The first of: `given` (a run's
  // own), the provider's `prices`, its `free`, the files. With basis "unknown" and no rates if none
  // has it. INVALID_ARGUMENT: an entry of `given` cannot be read.
  absl::StatusOr<v1::ResolvedPrice> Find(
      const std::string& provider, const std::string& model,
      const google::protobuf::RepeatedPtrField<v1::ModelPrice>& given, absl::Time now) const;

  // FAILED_PRECONDITION naming model, files and fix: what to say when a capped run wants it.
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

// Rates as integers. INVALID_ARGUMENT names the field.
absl::StatusOr<v1::ResolvedPrice::Rates> ResolveRates(const v1::TokenRates& rates);

// "$1.25 in, $0.125 cached, $10.00 out per million tokens (2026-08-27, https://...)".
std::string PriceText(const v1::ResolvedPrice& price);

// Fills sha256.
void SealPrices(v1::ResolvedPrices* prices);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LEDGER_PRICE_BOOK_H_
