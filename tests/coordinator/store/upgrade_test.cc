// Files of earlier versions, as programs of their time wrote them, are brought up with all in them.
#include <stdlib.h>

#include <filesystem>

#include "coordinator/store/migrations.h"
#include "tests/coordinator/store/store_fixture.h"

namespace ksearch {
namespace {

// Version 1: a finished run of three rounds with four calls, and one that was killed while its
// first call waited for a model that had gone.
constexpr char kFinished[] = "softmax_rows_f32-1f16d3";
constexpr char kKilled[] = "softmax_rows_f32-8c7118";

TEST(UpgradeTest, VersionOneIsBroughtUpWithAllItHolds) {
  const char* source = ::getenv("KSEARCH_SOURCE_DIR");
  ASSERT_NE(source, nullptr);
  TempFolder folder;
  const std::string path = folder.File("ksearch.db");
  std::filesystem::copy_file(std::string(source) + "/tests/coordinator/store/fixtures/schema_1.db",
                             path);
  auto store = Store::Open(At(path));
  ASSERT_TRUE(store.ok()) << store.status();
  EXPECT_EQ((*store)->schema_version(), Migrations().back().version);
  ASSERT_EQ((*store)->ListRuns()->size(), 2u);
  EXPECT_EQ((*store)->ReadRun(kFinished)->status.state(), v1::RUN_STATE_FINISHED);
  EXPECT_EQ((*store)->ReadEvents(kFinished, 0, 0)->back().kind(), v1::RunEvent::RUN_ENDED);
  EXPECT_EQ((*store)->ListCandidates(kFinished)->size(), 2u);

  // What it used is in the ledger; what it cost was not known then.
  const auto ledger = (*store)->ReadLedger(kFinished);
  ASSERT_EQ(ledger->size(), 2u);
  EXPECT_EQ((*ledger)[1].scope, "scripted/scripted");
  for (const LedgerRow& row : *ledger) {
    EXPECT_EQ(row.calls, 4);
    EXPECT_EQ(row.tokens_spent, 1740 + 446 + 1930 + 648 + 2711 + 655 + 2939 + 648);
    EXPECT_EQ(row.nano_spent, 0);
    EXPECT_FALSE(row.caps.nano_usd.has_value());
  }
  EXPECT_EQ((*ledger)[0].evaluations, 3);

  // The call that waited can still be answered, and is counted then.
  const auto waiting = (*store)->ReadUnansweredCalls(kKilled);
  ASSERT_EQ(waiting->size(), 1u);
  LlmCallRow reply = (*waiting)[0];
  EXPECT_TRUE(reply.admitted);
  EXPECT_EQ(reply.sent, absl::Time());
  reply.reply = "text";
  reply.counted_tokens = 30;
  reply.cost_nano = 4;
  ASSERT_TRUE(Reply(**store, reply).ok());
  EXPECT_EQ((*store)->ReadArrivals(kKilled, 0, 0)->size(), 1u);
  EXPECT_EQ((*store)->ReadLedger(kKilled)->front().tokens_spent, 30);
  EXPECT_EQ((*store)->ReadLedger(kKilled)->front().tokens_reserved, 0);
}

}  // namespace
}  // namespace ksearch
