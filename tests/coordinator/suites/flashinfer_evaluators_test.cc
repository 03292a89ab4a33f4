// Which of upstream's evaluators a definition gets, and what it makes of the task.
#include "coordinator/suites/flashinfer/evaluators/evaluator_table.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

v1::TensorSpec Tensor(const std::string& name, const std::vector<std::string>& shape,
                      v1::DType dtype = v1::DTYPE_FLOAT32) {
  v1::TensorSpec tensor;
  tensor.set_name(name);
  for (const std::string& axis : shape) tensor.add_shape(axis);
  tensor.set_dtype(dtype);
  return tensor;
}

// A sampling operation of two workloads: the first draws its probabilities, the second has them.
v1::Task Sampling(const std::string& name) {
  v1::Task task;
  v1::Definition* const definition = task.mutable_definition();
  definition->set_name(name);
  definition->set_op_type("sampling");
  definition->add_axes()->set_name("rows");
  v1::Axis* const width = definition->add_axes();
  width->set_name("width");
  width->set_const_value(17);
  *definition->add_inputs() = Tensor("probs", {"rows", "width"});
  *definition->add_inputs() = Tensor("top_k", {"rows"}, v1::DTYPE_INT32);
  *definition->add_outputs() = Tensor("samples", {"rows"}, v1::DTYPE_INT64);
  for (int i = 0; i < 2; ++i) {
    v1::Workload* const workload = task.add_workloads();
    v1::InputRecipe* const probabilities = workload->add_inputs();
    probabilities->set_input("probs");
    v1::InputRecipe* const top_k = workload->add_inputs();
    top_k->set_input("top_k");
    top_k->mutable_random();
    if (i == 0) {
      probabilities->mutable_random();
    } else {
      probabilities->mutable_recorded()->set_values("recorded");
    }
  }
  return task;
}

TEST(FlashInferEvaluatorsTest, SamplingIsJudgedByTheTokensThatAreDrawn) {
  v1::Task task = Sampling("top_k_sampling_from_probs_v17");
  std::string reference = "def run(probs, top_k):\n    pass";
  const absl::Status posed = PoseByEvaluator(&task, &reference);
  ASSERT_TRUE(posed.ok()) << posed;
  EXPECT_TRUE(task.tolerance().judged_by_suite_rule());
  EXPECT_EQ(task.suite_rule().rule(), v1::SuiteRule::SAMPLES);
  EXPECT_TRUE(task.suite_rule().sampling().by_top_k());
  EXPECT_FALSE(task.suite_rule().sampling().by_top_p());
  EXPECT_EQ(task.suite_rule().sampling().tokens(), 500000);
  EXPECT_THAT(task.hidden().keep(), ElementsAre("probs", "top_k"));
  EXPECT_TRUE(task.workloads(0).inputs(0).has_made());
  EXPECT_TRUE(task.workloads(0).inputs(1).has_random());
  EXPECT_TRUE(task.workloads(1).inputs(0).has_recorded());
  EXPECT_THAT(reference, AllOf(HasSubstr("    pass\n"), HasSubstr("def make_inputs(seed, **axes):"),
                               HasSubstr("torch.softmax(")));
  EXPECT_EQ(reference.find("@TENSORS@"), std::string::npos);
}

TEST(FlashInferEvaluatorsTest, NamesSayWhichLimitsCount) {
  std::string reference;
  v1::Task none = Sampling("sampling_from_probs_v17");
  EXPECT_TRUE(PoseByEvaluator(&none, &reference).ok());
  EXPECT_FALSE(none.suite_rule().sampling().by_top_k());
  v1::Task both = Sampling("Top_K_top_p_sampling");
  EXPECT_THAT(PoseByEvaluator(&both, &reference).ToString(), HasSubstr("no input 'top_p'"));
  *both.mutable_definition()->add_inputs() = Tensor("top_p", {"rows"});
  EXPECT_TRUE(PoseByEvaluator(&both, &reference).ok());
  EXPECT_TRUE(both.suite_rule().sampling().by_top_k() && both.suite_rule().sampling().by_top_p());
  v1::Task other = Sampling("sampling");
  other.mutable_definition()->mutable_inputs(0)->set_name("logits");
  EXPECT_THAT(PoseByEvaluator(&other, &reference).ToString(), HasSubstr("no such input"));
}

TEST(FlashInferEvaluatorsTest, IndexersAreJudgedByScoresAndOthersByElements) {
  std::string reference = "def run():\n    pass\n";
  v1::Task indexer;
  indexer.mutable_definition()->set_name("dsa_topk_indexer_fp8_h64");
  EXPECT_THAT(PoseByEvaluator(&indexer, &reference).ToString(),
              HasSubstr("no input 'q_index_fp8' of 3 dimensions"));
  for (const auto& [name, shape] : std::vector<std::pair<std::string, std::vector<std::string>>>{
           {"q_index_fp8", {"b", "h", "d"}},
           {"k_index_cache_fp8", {"p", "s", "one", "w"}},
           {"weights", {"b", "h"}},
           {"seq_lens", {"b"}},
           {"block_table", {"b", "m"}}}) {
    *indexer.mutable_definition()->add_inputs() = Tensor(name, shape);
  }
  *indexer.mutable_definition()->add_outputs() = Tensor("places", {"b", "k"}, v1::DTYPE_INT32);
  EXPECT_TRUE(PoseByEvaluator(&indexer, &reference).ok());
  EXPECT_EQ(indexer.suite_rule().rule(), v1::SuiteRule::INDEX_SCORES);
  EXPECT_EQ(reference, "def run():\n    pass\n") << "no workload draws the keys";

  v1::Task experts;
  experts.mutable_definition()->set_op_type("moe");
  EXPECT_TRUE(PoseByEvaluator(&experts, &reference).ok());
  EXPECT_EQ(experts.suite_rule().rule(), v1::SuiteRule::FINITE_AND_MATCHED);
  EXPECT_EQ(experts.suite_rule().required_matched_ratio(), 0.95);
  EXPECT_EQ(experts.tolerance().required_matched_ratio(), 0.95);
}

// Upstream knows two definitions by name, whose second output solutions may leave out.
TEST(FlashInferEvaluatorsTest, SparseAttentionNeedsBothOutputs) {
  std::string reference = "def run():\n    pass\n";
  v1::Task attention;
  attention.mutable_definition()->set_name("dsa_sparse_attention_h16_ckv512_kpe64_topk2048_ps64");
  *attention.mutable_definition()->add_outputs() = Tensor("output", {"n"});
  EXPECT_THAT(PoseByEvaluator(&attention, &reference).ToString(),
              AllOf(HasSubstr("RUNTIME_ERROR"), HasSubstr("and the definition has 1")));
  attention.mutable_definition()->set_name("dsa_sparse_attention_h16");
  EXPECT_TRUE(PoseByEvaluator(&attention, &reference).ok());
  attention.mutable_definition()->set_name("dsa_sparse_attention_h16_ckv512_kpe64_topk2048_ps64");
  *attention.mutable_definition()->add_outputs() = Tensor("lse", {"n"});
  EXPECT_TRUE(PoseByEvaluator(&attention, &reference).ok());
  EXPECT_EQ(attention.suite_rule().required_matched_ratio(), 0);
  EXPECT_EQ(attention.suite_rule().trials(), 3);
  EXPECT_EQ(attention.tolerance().atol(), 0.01);
}

}  // namespace
}  // namespace ksearch
