#include "coordinator/ledger/call_cost.h"

#include <gtest/gtest.h>

#include "common/rng.h"

namespace ksearch {
namespace {

v1::ResolvedPrice Price() {
  v1::ResolvedPrice price;
  v1::ResolvedPrice::Rates* rates = price.mutable_rates();
  rates->set_input(1'000'000'000);
  rates->set_cache_read(100'000'000);
  rates->set_cache_write_5m(1'250'000'000);
  rates->set_cache_write_1h(2'000'000'000);
  rates->set_output(5'000'000'000);
  rates->set_reasoning(6'000'000'000);
  return price;
}

TEST(CallCostTest, IsTheSumOverSixDisjointParts) {
  TokenUsage usage;
  usage.uncached_input = 1000;
  usage.cache_read = 2000;
  usage.cache_write_5m = 3000;
  usage.cache_write_1h = 4000;
  usage.visible_output = 500;
  usage.reasoning_output = 600;
  EXPECT_EQ(CostNano(Price(), usage),
            1'000'000 + 200'000 + 3'750'000 + 8'000'000 + 2'500'000 + 3'600'000);
}

TEST(CallCostTest, FractionsOfANanoDollarAreRoundedUpOncePerCall) {
  v1::ResolvedPrice price;
  price.mutable_rates()->set_input(300'000);  // 0.3 nano-dollars a token
  TokenUsage usage;
  usage.uncached_input = 1;
  EXPECT_EQ(CostNano(price, usage), 1);
  usage.uncached_input = 10;
  EXPECT_EQ(CostNano(price, usage), 3);
}

TEST(CallCostTest, LongInputIsPricedByItsOwnRatesInFull) {
  v1::ResolvedPrice price = Price();
  price.mutable_long_input_rates()->set_input(2'000'000'000);
  price.mutable_long_input_rates()->set_output(10'000'000'000);
  price.set_long_input_above(1000);
  TokenUsage usage;
  usage.uncached_input = 1000;
  usage.visible_output = 100;
  EXPECT_EQ(CostNano(price, usage), 1'000'000 + 500'000);
  usage.uncached_input = 1001;
  EXPECT_EQ(CostNano(price, usage), 2'002'000 + 1'000'000);
}

TEST(CallCostTest, HugeNumbersDoNotOverflow) {
  v1::ResolvedPrice price;
  price.mutable_rates()->set_output(int64_t{1'000'000} * 1'000'000'000);
  TokenUsage usage;
  usage.visible_output = INT64_MAX / 2;
  EXPECT_GT(CostNano(price, usage), 0);
}

TEST(CallCostTest, NoUsageWithinTheBoundsCostsMoreThanTheWorstCase) {
  Rng rng(7);
  for (int i = 0; i < 10'000; ++i) {
    v1::ResolvedPrice price;
    for (v1::ResolvedPrice::Rates* rates :
         {price.mutable_rates(), price.mutable_long_input_rates()}) {
      rates->set_input(static_cast<int64_t>(rng.NextBelow(1'000'000'000)));
      rates->set_cache_read(static_cast<int64_t>(rng.NextBelow(1'000'000'000)));
      rates->set_cache_write_5m(static_cast<int64_t>(rng.NextBelow(1'000'000'000)));
      rates->set_cache_write_1h(static_cast<int64_t>(rng.NextBelow(1'000'000'000)));
      rates->set_output(static_cast<int64_t>(rng.NextBelow(1'000'000'000)));
      rates->set_reasoning(static_cast<int64_t>(rng.NextBelow(1'000'000'000)));
    }
    price.set_long_input_above(static_cast<int64_t>(1 + rng.NextBelow(2000)));
    const size_t bytes = rng.NextBelow(3000);
    const int max_output = static_cast<int>(rng.NextBelow(1000));
    // Any split of at most that many tokens.
    TokenUsage usage;
    int64_t input = static_cast<int64_t>(rng.NextBelow(bytes + 1));
    for (int64_t* part : {&usage.cache_read, &usage.cache_write_5m, &usage.cache_write_1h}) {
      *part = static_cast<int64_t>(rng.NextBelow(static_cast<uint64_t>(input) + 1));
      input -= *part;
    }
    usage.uncached_input = input;
    usage.reasoning_output =
        static_cast<int64_t>(rng.NextBelow(static_cast<uint64_t>(max_output) + 1));
    usage.visible_output = max_output - usage.reasoning_output;
    const WorstCase worst = WorstCaseOf(price, bytes, max_output);
    EXPECT_LE(CostNano(price, usage), worst.nano_usd);
    EXPECT_LE(usage.input() + usage.output(), worst.tokens);
  }
}

}  // namespace
}  // namespace ksearch
