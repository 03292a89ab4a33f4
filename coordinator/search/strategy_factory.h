#ifndef KSEARCH_COORDINATOR_SEARCH_STRATEGY_FACTORY_H_
#define KSEARCH_COORDINATOR_SEARCH_STRATEGY_FACTORY_H_

#include <memory>

#include "absl/status/statusor.h"
#include "coordinator/search/search_strategy.h"

namespace ksearch {

// The strategy named by context.config.strategy (empty: "world_model"). INVALID_ARGUMENT for an
// unknown name lists those there are.
absl::StatusOr<std::unique_ptr<SearchStrategy>> MakeStrategy(const SearchContext& context);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_STRATEGY_FACTORY_H_
