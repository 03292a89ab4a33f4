#include "coordinator/engine/run_embedding.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/engine/budget_gate.h"
#include "coordinator/engine/run_settings.h"
#include "coordinator/search/search_strategy.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/fakes/fake_llm_client.h"
#include "tests/fakes/fake_store.h"

namespace ksearch {
namespace {

using testing::HasSubstr;

class RunEmbeddingTest : public testing::Test {
 protected:
  RunEmbeddingTest() {
    std::vector<ModelCaller::Provider> providers;
    for (const char* name : {"embeds", "plain"}) {
      ModelCaller::Provider& provider = providers.emplace_back();
      provider.name = name;
      provider.default_model = "m";
      provider.client = std::make_unique<FakeLlmClient>();
      if (provider.name == "embeds") provider.embedding_model = "e";
    }
    models_ = std::make_unique<ModelCaller>(&store_, Clock::Real(), std::move(providers));
  }

  v1::RunConfig Config(const std::string& strategy, const std::string& provider) {
    v1::RunConfig request;
    request.set_task("t");
    request.set_strategy(strategy);
    request.set_provider(provider);
    request.set_model("m");
    return CompleteRunConfig(request, v1::RunConfig()).value();
  }
  std::string FaultOf(v1::RunConfig config) {
    const absl::Status status = ChooseEmbedding(*models_, nullptr, &config);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  }

  FakeStore store_;
  std::unique_ptr<ModelCaller> models_;
};

TEST_F(RunEmbeddingTest, TheRunsProviderEmbedsIfItCan) {
  v1::RunConfig config = Config("shinka", "embeds");
  EXPECT_FALSE(config.shinka().has_embeddings()) << "not known before";
  ASSERT_TRUE(ChooseEmbedding(*models_, nullptr, &config).ok());
  EXPECT_TRUE(config.shinka().embeddings());
  ASSERT_EQ(config.models_size(), 1);
  EXPECT_EQ(config.models(0).role(), "embedding");
  EXPECT_EQ(config.models(0).provider(), "embeds");
  EXPECT_EQ(config.models(0).model(), "e");
  EXPECT_EQ(RecordedEmbeddingModel(config), "e");
  // The other calls are unchanged; an embedding has no output to reserve money for.
  std::vector<std::string> uses;
  for (const v1::ModelUse& use : AllUses(config)) {
    uses.push_back(absl::StrCat(use.role(), " ", use.model(), " ", use.max_output_tokens()));
  }
  EXPECT_THAT(uses,
              testing::UnorderedElementsAre("embedding e 0", "code m 32000", "notes m 32000"));
}

TEST_F(RunEmbeddingTest, OtherwiseNobodyDoes) {
  v1::RunConfig config = Config("shinka", "plain");
  ASSERT_TRUE(ChooseEmbedding(*models_, nullptr, &config).ok());
  EXPECT_FALSE(config.shinka().embeddings());
  EXPECT_EQ(config.models_size(), 0);
  EXPECT_EQ(RecordedEmbeddingModel(config), "");
  config = Config("shinka", "embeds");
  config.mutable_shinka()->set_embeddings(false);
  ASSERT_TRUE(ChooseEmbedding(*models_, nullptr, &config).ok());
  EXPECT_EQ(config.models_size(), 0);
  // Strategies without embeddings.
  config = Config("sequential", "embeds");
  ASSERT_TRUE(ChooseEmbedding(*models_, nullptr, &config).ok());
  EXPECT_EQ(config.models_size(), 0);
}

TEST_F(RunEmbeddingTest, AnotherProviderMayEmbed) {
  v1::RunConfig config = Config("shinka", "plain");
  v1::ModelUse* use = config.add_models();
  use->set_role(kEmbeddingRole);
  use->set_provider("embeds");
  ASSERT_TRUE(ChooseEmbedding(*models_, nullptr, &config).ok());
  EXPECT_TRUE(config.shinka().embeddings());
  EXPECT_EQ(config.models(0).model(), "e");
}

TEST_F(RunEmbeddingTest, WhatCannotBeIsRefusedByTheFieldsName) {
  v1::RunConfig config = Config("shinka", "plain");
  config.mutable_shinka()->set_embeddings(true);
  EXPECT_THAT(FaultOf(config), HasSubstr("shinka.embeddings is true, but provider 'plain'"));
  v1::ModelUse* use = config.add_models();
  use->set_role(kEmbeddingRole);
  EXPECT_THAT(FaultOf(config), HasSubstr("models[0].provider is 'plain', which has no"));
}

TEST_F(RunEmbeddingTest, RolesAreCheckedWithTheOtherSettings) {
  const auto fault = [](const std::string& strategy, int entries, bool off) {
    v1::RunConfig request;
    request.set_task("t");
    request.set_strategy(strategy);
    if (off) request.mutable_shinka()->set_embeddings(false);
    v1::ModelUse* code = request.add_models();
    code->set_role("code");
    code->set_provider("plain");
    for (int i = 0; i < entries; ++i) {
      v1::ModelUse* use = request.add_models();
      use->set_role(kEmbeddingRole);
      use->set_provider("embeds");
    }
    return std::string(CompleteRunConfig(request, v1::RunConfig()).status().message());
  };
  EXPECT_EQ(fault("shinka", 1, false), "");
  EXPECT_THAT(fault("shinka", 2, false), HasSubstr("models has two entries with the role"));
  EXPECT_THAT(fault("shinka", 1, true), HasSubstr("models[1].role is 'embedding', must be"));
  EXPECT_THAT(fault("sequential", 1, false), HasSubstr("models[1].role is 'embedding', must be"));
}

TEST_F(RunEmbeddingTest, ARepetitionDoesAsTheRunThatItRepeats) {
  v1::RunConfig embedded = Config("shinka", "embeds");
  ASSERT_TRUE(ChooseEmbedding(*models_, nullptr, &embedded).ok());
  v1::RunConfig again = Config("shinka", "plain");
  ASSERT_TRUE(ChooseEmbedding(*models_, &embedded, &again).ok());
  EXPECT_EQ(RecordedEmbeddingModel(again), "e");
  const v1::RunConfig before_there_were_any = Config("shinka", "embeds");
  again = Config("shinka", "embeds");
  ASSERT_TRUE(ChooseEmbedding(*models_, &before_there_were_any, &again).ok());
  EXPECT_EQ(RecordedEmbeddingModel(again), "");
  EXPECT_FALSE(again.shinka().embeddings());
}

TEST_F(RunEmbeddingTest, ACallWithoutAModelForItFailsAndIsNotSent) {
  LlmCallRow call;
  call.call_id = "r/1";
  call.run_id = "r";
  call.role = kEmbeddingRole;
  call.provider = "plain";
  RunRow run;
  run.run_id = "r";
  ASSERT_TRUE(store_.CreateRun(run).ok());
  StepCommit step;
  step.run_id = "r";
  step.calls.push_back(call);
  ASSERT_TRUE(store_.CommitStep(step).ok());
  models_->Send(call, v1::ResolvedPrice());
  EXPECT_THAT(store_.ReadCall("r/1")->error,
              HasSubstr("FAILED_PRECONDITION: provider 'plain' has no embedding_model"));
}

}  // namespace
}  // namespace ksearch
