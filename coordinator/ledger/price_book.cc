#include "coordinator/ledger/price_book.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "common/digest.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "coordinator/ledger/money.h"

namespace ksearch {
namespace {

bool Names(const v1::ModelPrice& price, const std::string& model) {
  return price.model() == model ||
         std::find(price.also().begin(), price.also().end(), model) != price.also().end();
}

bool IsDate(const std::string& text) {
  absl::Time ignored;
  std::string error;
  return text.size() == 10 && absl::ParseTime("%Y-%m-%d", text, &ignored, &error);
}

absl::StatusOr<v1::ResolvedPrice> Resolve(const v1::ModelPrice& price) {
  v1::ResolvedPrice resolved;
  ASSIGN_OR_RETURN(*resolved.mutable_rates(), ResolveRates(price.rates()));
  if (price.has_long_input_rates() != (price.long_input_above() > 0)) {
    return absl::InvalidArgumentError("long_input_rates and long_input_above belong together");
  }
  if (price.has_long_input_rates()) {
    ASSIGN_OR_RETURN(*resolved.mutable_long_input_rates(), ResolveRates(price.long_input_rates()));
    resolved.set_long_input_above(price.long_input_above());
  }
  resolved.set_effective_from(price.effective_from());
  resolved.set_source(price.source());
  return resolved;
}

// The faults of an entry, regardless of other entries.
std::vector<std::string> Faults(const v1::ModelPrice& price, bool in_file) {
  std::vector<std::string> faults;
  if (price.model().empty()) faults.emplace_back("model is missing");
  if ((in_file || !price.effective_from().empty()) && !IsDate(price.effective_from())) {
    faults.push_back(absl::StrCat("effective_from '", price.effective_from(),
                                  "' must be a date like 2026-11-01"));
  }
  if (in_file && price.source().empty()) {
    faults.emplace_back("source is missing: say where the price was read, and when");
  }
  if (const auto resolved = Resolve(price); !resolved.ok()) {
    faults.emplace_back(resolved.status().message());
  }
  return faults;
}

}  // namespace

absl::StatusOr<v1::ResolvedPrice::Rates> ResolveRates(const v1::TokenRates& rates) {
  v1::ResolvedPrice::Rates resolved;
  const auto read = [](const char* field, const std::string& text,
                       std::optional<int64_t> fallback) -> absl::StatusOr<int64_t> {
    if (text.empty() && fallback.has_value()) return *fallback;
    if (text.empty())
      return absl::InvalidArgumentError(absl::StrCat("rates.", field, " is missing"));
    auto nano = ParseUsd(text);
    if (!nano.ok()) return Annotate(nano.status(), absl::StrCat("rates.", field));
    return nano;
  };
  ASSIGN_OR_RETURN(const int64_t input, read("input", rates.input(), std::nullopt));
  ASSIGN_OR_RETURN(const int64_t cache_read, read("cache_read", rates.cache_read(), input));
  ASSIGN_OR_RETURN(const int64_t write_5m, read("cache_write_5m", rates.cache_write_5m(), input));
  ASSIGN_OR_RETURN(const int64_t write_1h,
                   read("cache_write_1h", rates.cache_write_1h(), write_5m));
  ASSIGN_OR_RETURN(const int64_t output, read("output", rates.output(), std::nullopt));
  ASSIGN_OR_RETURN(const int64_t reasoning, read("reasoning", rates.reasoning(), output));
  resolved.set_input(input);
  resolved.set_cache_read(cache_read);
  resolved.set_cache_write_5m(write_5m);
  resolved.set_cache_write_1h(write_1h);
  resolved.set_output(output);
  resolved.set_reasoning(reasoning);
  return resolved;
}

absl::StatusOr<PriceBook> PriceBook::Load(const std::vector<std::string>& folders,
                                          const std::vector<v1::ModelProvider>& providers) {
  PriceBook book;
  book.folders_ = folders;
  std::vector<std::string> faults;
  for (const std::string& folder : folders) {
    std::error_code error;
    std::filesystem::directory_iterator files(folder, error);
    if (error) {
      faults.push_back(absl::StrCat("price_dirs: ", folder, ": ", error.message()));
      continue;
    }
    std::vector<std::string> paths;
    for (const auto& file : files) {
      if (file.path().extension() == ".textproto") paths.push_back(file.path().string());
    }
    std::sort(paths.begin(), paths.end());
    for (const std::string& path : paths) {
      book.files_.push_back(std::filesystem::weakly_canonical(path, error).string());
      v1::PriceFile file;
      if (const absl::Status status = ReadTextproto(path, &file); !status.ok()) {
        faults.emplace_back(status.message());
        continue;
      }
      for (const v1::ModelPrice& price : file.prices()) {
        for (const std::string& fault : Faults(price, true)) {
          faults.push_back(absl::StrCat(path, ": model '", price.model(), "': ", fault));
        }
        book.by_model_.insert({price.model(), {path, price}});
        for (const std::string& name : price.also()) book.by_model_.insert({name, {path, price}});
      }
    }
  }
  for (const v1::ModelProvider& provider : providers) {
    Provider& own = book.providers_[provider.name()];
    own.free = provider.free() || provider.has_mailbox() || provider.has_replay();
    for (const v1::ModelPrice& price : provider.prices()) {
      for (const std::string& fault : Faults(price, false)) {
        faults.push_back(absl::StrCat("provider '", provider.name(), "': prices: model '",
                                      price.model(), "': ", fault));
      }
      own.prices.push_back(price);
    }
  }
  if (!faults.empty()) return absl::InvalidArgumentError(absl::StrJoin(faults, "; "));
  return book;
}

absl::StatusOr<v1::ResolvedPrice> PriceBook::Find(
    const std::string& provider, const std::string& model,
    const google::protobuf::RepeatedPtrField<v1::ModelPrice>& given, absl::Time now) const {
  const std::string today = absl::FormatTime("%Y-%m-%d", now, absl::UTCTimeZone());
  v1::ResolvedPrice found;
  found.set_basis("unknown");
  const auto take = [&](const v1::ModelPrice& price, const std::string& basis,
                        const std::string& file) -> absl::Status {
    absl::StatusOr<v1::ResolvedPrice> resolved = Resolve(price);
    if (!resolved.ok()) {
      return Annotate(resolved.status(), absl::StrCat("price of '", price.model(), "'"));
    }
    found = *std::move(resolved);
    found.set_basis(basis);
    found.set_file(file);
    return absl::OkStatus();
  };
  const Provider* own = nullptr;
  if (const auto it = providers_.find(provider); it != providers_.end()) own = &it->second;
  // A price for this provider takes precedence over one for the model on any provider.
  const std::string full = absl::StrCat(provider, "/", model);
  const v1::ModelPrice* best = nullptr;
  for (const v1::ModelPrice& price : given) {
    if (Names(price, full) || (best == nullptr && Names(price, model))) best = &price;
  }
  if (best != nullptr) {
    RETURN_IF_ERROR(take(*best, "given", ""));
  } else if (own != nullptr) {
    const auto newer = [&](const v1::ModelPrice& price) {
      return Names(price, model) && price.effective_from() <= today &&
             (best == nullptr || price.effective_from() >= best->effective_from());
    };
    for (const v1::ModelPrice& price : own->prices) {
      if (newer(price)) best = &price;
    }
    if (best != nullptr) {
      RETURN_IF_ERROR(take(*best, "provider", "the coordinator's config"));
    } else if (own->free) {
      best = &v1::ModelPrice::default_instance();
      found.mutable_rates();
      found.set_basis("free");
      found.set_source(absl::StrCat("provider '", provider, "' is free"));
    }
  }
  if (best == nullptr) {
    const Entry* entry = nullptr;
    const auto range = by_model_.equal_range(model);
    for (auto it = range.first; it != range.second; ++it) {
      const std::string& from = it->second.price.effective_from();
      if (from <= today && (entry == nullptr || from >= entry->price.effective_from())) {
        entry = &it->second;
      }
    }
    if (entry != nullptr) RETURN_IF_ERROR(take(entry->price, "table", entry->file));
  }
  found.set_provider(provider);
  found.set_model(model);
  return found;
}

absl::Status PriceBook::UnknownPrice(const std::string& provider, const std::string& model) const {
  const std::string place = files_.empty()
                                ? absl::StrCat("no price file in ", absl::StrJoin(folders_, ", "))
                                : absl::StrJoin(files_, ", ");
  return absl::FailedPreconditionError(absl::StrCat(
      "the price of model '", model, "' of provider '", provider,
      "' is not known, so a money cap cannot hold: looked in ", place,
      "; add it there, or to the provider's `prices` (or `free: true`) in the coordinator's "
      "config, "
      "or give --price ",
      model, "=INPUT,OUTPUT in dollars per million tokens, or leave out the money cap"));
}

std::string PriceText(const v1::ResolvedPrice& price) {
  if (price.basis() == "unknown") return "price unknown";
  if (price.basis() == "free") return price.source();
  const auto rates = [](const v1::ResolvedPrice::Rates& of) {
    return absl::StrCat(UsdText(of.input()), " in, ", UsdText(of.cache_read()), " cached, ",
                        UsdText(of.output()), " out");
  };
  std::string text = absl::StrCat(rates(price.rates()), " per million tokens");
  if (price.has_long_input_rates()) {
    absl::StrAppend(&text, "; ", rates(price.long_input_rates()), " above ",
                    price.long_input_above(), " tokens of input");
  }
  std::vector<std::string> facts;
  if (price.basis() == "given") facts.emplace_back("given with the run");
  if (!price.effective_from().empty()) facts.push_back(price.effective_from());
  if (!price.source().empty()) facts.push_back(price.source());
  if (!price.file().empty()) facts.push_back(price.file());
  if (!facts.empty()) absl::StrAppend(&text, " (", absl::StrJoin(facts, ", "), ")");
  return text;
}

void SealPrices(v1::ResolvedPrices* prices) {
  std::string text;
  for (const v1::ResolvedPrice& price : prices->prices()) {
    absl::StrAppend(&text, price.provider(), "\n", price.model(), "\n");
    for (const v1::ResolvedPrice::Rates* of : {&price.rates(), &price.long_input_rates()}) {
      absl::StrAppend(&text, of->input(), " ", of->cache_read(), " ", of->cache_write_5m(), " ",
                      of->cache_write_1h(), " ", of->output(), " ", of->reasoning(), "\n");
    }
    absl::StrAppend(&text, price.long_input_above(), "\n");
  }
  prices->set_sha256(Sha256Hex(text));
}

}  // namespace ksearch
