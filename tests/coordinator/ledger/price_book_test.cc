#include "coordinator/ledger/price_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "common/textproto.h"
#include "coordinator/ledger/money.h"

namespace ksearch {
namespace {

using testing::HasSubstr;

class PriceBookTest : public testing::Test {
 protected:
  PriceBookTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "prices_XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    folder_ = pattern;
  }
  ~PriceBookTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  void Write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ + "/" + name) << text;
  }
  PriceBook Book() {
    auto book = PriceBook::Load({folder_}, providers_);
    EXPECT_TRUE(book.ok()) << book.status();
    return *std::move(book);
  }
  v1::ResolvedPrice Find(const PriceBook& book, const std::string& provider,
                         const std::string& model, const std::string& day = "2026-11-21") {
    absl::Time now;
    std::string error;
    EXPECT_TRUE(absl::ParseTime("%Y-%m-%d", day, &now, &error));
    const auto price = book.Find(provider, model, given_, now);
    EXPECT_TRUE(price.ok()) << price.status();
    return *price;
  }

  std::string folder_;
  std::vector<v1::ModelProvider> providers_;
  google::protobuf::RepeatedPtrField<v1::ModelPrice> given_;
};

constexpr char kTwoDates[] = R"(
prices { model: "m" also: "m-0101" effective_from: "2026-01-01" source: "a page"
         rates { input: "1" output: "2" } }
prices { model: "m" effective_from: "2026-06-01" source: "a page"
         rates { input: "3" cache_read: "0.3" output: "4" reasoning: "5" } }
)";

TEST_F(PriceBookTest, ModelsOfTheShippedConfigsHaveAPrice) {
  const std::string root = ::getenv("KSEARCH_SOURCE_DIR");
  const auto book = PriceBook::Load({root + "/configs/prices"}, {});
  ASSERT_TRUE(book.ok()) << book.status();
  const std::string readme = ReadFile(root + "/README.md", 1 << 20).value();
  int hosted = 0;
  for (const char* name : {"coordinator", "coordinator_network"}) {
    v1::CoordinatorConfig config;
    ASSERT_TRUE(ReadTextproto(root + "/configs/" + name + ".textproto", &config).ok());
    for (const v1::ModelProvider& provider : config.providers()) {
      if (!provider.openai_chat().base_url().empty()) continue;  // the user's own server
      ++hosted;
      const std::string& model = provider.openai_chat().default_model();
      EXPECT_EQ(Find(*book, provider.name(), model).basis(), "table") << name << ": " << model;
      EXPECT_THAT(readme, HasSubstr("default_model: \"" + model + "\""));
    }
  }
  EXPECT_EQ(hosted, 2);
}

TEST_F(PriceBookTest, ThePriceOfTheDayHoldsAndSaysWhereItIsFrom) {
  Write("a.textproto", kTwoDates);
  const PriceBook book = Book();
  const v1::ResolvedPrice now = Find(book, "p", "m");
  EXPECT_EQ(now.basis(), "table");
  EXPECT_EQ(now.rates().input(), 3 * kNanoPerUsd);
  EXPECT_EQ(now.rates().cache_write_1h(), 3 * kNanoPerUsd);
  EXPECT_EQ(now.rates().cache_read(), 300'000'000);
  EXPECT_EQ(now.rates().reasoning(), 5 * kNanoPerUsd);
  EXPECT_EQ(now.effective_from(), "2026-06-01");
  EXPECT_THAT(now.file(), HasSubstr("a.textproto"));
  EXPECT_EQ(Find(book, "p", "m", "2026-05-31").rates().input(), kNanoPerUsd);
  EXPECT_EQ(Find(book, "p", "m-0101").rates().output(), 2 * kNanoPerUsd);
  EXPECT_EQ(Find(book, "p", "m", "2025-12-31").basis(), "unknown");
  EXPECT_EQ(Find(book, "p", "n").basis(), "unknown");
}

TEST_F(PriceBookTest, OwnPricesWinOverTheFilesAndGivenOnesOverAll) {
  Write("a.textproto", kTwoDates);
  providers_.resize(2);
  ASSERT_TRUE(ParseTextproto(
                  "name: 'own' free: true prices { model: 'm' rates { input: '7' output: '8' } }",
                  "c", &providers_[0])
                  .ok());
  ASSERT_TRUE(ParseTextproto("name: 'home' free: true", "c", &providers_[1]).ok());
  const PriceBook book = Book();
  EXPECT_EQ(Find(book, "own", "m").rates().input(), 7 * kNanoPerUsd);
  EXPECT_EQ(Find(book, "own", "other").basis(), "free");
  EXPECT_EQ(Find(book, "home", "m").basis(), "free");
  EXPECT_EQ(Find(book, "home", "m").rates().input(), 0);
  v1::ModelPrice* given = given_.Add();
  given->set_model("m");
  given->mutable_rates()->set_input("9");
  given->mutable_rates()->set_output("9");
  EXPECT_EQ(Find(book, "own", "m").basis(), "given");
  given = given_.Add();
  given->set_model("own/m");
  given->mutable_rates()->set_input("10");
  given->mutable_rates()->set_output("10");
  EXPECT_EQ(Find(book, "own", "m").rates().input(), 10 * kNanoPerUsd);
  EXPECT_EQ(Find(book, "p", "m").rates().input(), 9 * kNanoPerUsd);
}

TEST_F(PriceBookTest, EveryFaultNamesFileAndModel) {
  Write("bad.textproto", R"(
prices { model: "x" effective_from: "yesterday" source: "s" rates { input: "1" output: "2" } }
prices { model: "y" effective_from: "2026-01-01" rates { input: "-1" output: "2" } }
prices { model: "z" effective_from: "2026-01-01" source: "s" rates { input: "1" } }
)");
  const auto book = PriceBook::Load({folder_, folder_ + "/none"}, {});
  const std::string message(book.status().message());
  EXPECT_THAT(message, HasSubstr("bad.textproto: model 'x': effective_from 'yesterday'"));
  EXPECT_THAT(message, HasSubstr("model 'y': source is missing"));
  EXPECT_THAT(message, HasSubstr("rates.input: '-1'"));
  EXPECT_THAT(message, HasSubstr("model 'z': rates.output is missing"));
  EXPECT_THAT(message, HasSubstr("price_dirs"));
}

TEST_F(PriceBookTest, AnUnknownPriceNamesModelFileAndFix) {
  Write("a.textproto", kTwoDates);
  const std::string message(Book().UnknownPrice("p", "new-model").message());
  EXPECT_THAT(message, HasSubstr("new-model"));
  EXPECT_THAT(message, HasSubstr("a.textproto"));
  EXPECT_THAT(message, HasSubstr("--price"));
}

TEST_F(PriceBookTest, ThePricesThatComeWithTheProgramAreReadable) {
  const char* source = ::getenv("KSEARCH_SOURCE_DIR");
  ASSERT_NE(source, nullptr);
  const auto book = PriceBook::Load({std::string(source) + "/configs/prices"}, {});
  ASSERT_TRUE(book.ok()) << book.status();
  EXPECT_EQ(Find(*book, "anthropic", "claude-opus-4-8").rates().output(), 25 * kNanoPerUsd);
  EXPECT_EQ(Find(*book, "openai", "gpt-5.4").rates().cache_read(), 250'000'000);
}

TEST(SealPricesTest, TheDigestFollowsTheRates) {
  v1::ResolvedPrices prices;
  prices.add_prices()->mutable_rates()->set_input(1);
  SealPrices(&prices);
  const std::string before = prices.sha256();
  prices.mutable_prices(0)->mutable_rates()->set_input(2);
  SealPrices(&prices);
  EXPECT_NE(prices.sha256(), before);
}

}  // namespace
}  // namespace ksearch
