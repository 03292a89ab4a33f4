#include "coordinator/llm/openai/embeddings_json.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string FaultOf(absl::string_view body, size_t pieces = 1) {
  const auto read = ParseEmbeddings(body, pieces);
  EXPECT_EQ(read.status().code(), absl::StatusCode::kDataLoss) << body;
  return std::string(read.status().message());
}

TEST(EmbeddingsJsonTest, OneTextIsAskedForAsAStringAndMoreAsAnArray) {
  EXPECT_EQ(EmbeddingsRequestJson("m", {"a\"b"}),
            R"({"encoding_format":"float","input":"a\"b","model":"m"})");
  EXPECT_EQ(EmbeddingsRequestJson("m", {"a", "b"}),
            R"({"encoding_format":"float","input":["a","b"],"model":"m"})");
}

TEST(EmbeddingsJsonTest, EmbeddingsComeInTheOrderOfTheirIndices) {
  const auto read = ParseEmbeddings(R"({"object":"list","model":"m-1","data":[
      {"object":"embedding","index":1,"embedding":[0,2]},
      {"object":"embedding","index":0,"embedding":[1.5,-1]}],
      "usage":{"prompt_tokens":12,"total_tokens":12}})",
                                    2);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_THAT(read->embeddings, ElementsAre(ElementsAre(1.5, -1), ElementsAre(0, 2)));
  EXPECT_EQ(read->model, "m-1");
  EXPECT_TRUE(read->usage_reported);
  EXPECT_EQ(read->usage.uncached_input, 12);
  EXPECT_EQ(read->usage.output(), 0);
}

TEST(EmbeddingsJsonTest, ServersThatLeaveThingsOutOrSendBase64AreUnderstood) {
  const auto read = ParseEmbeddings(R"({"data":[{"embedding":"AACAPwAAAMA="}]})", 1);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_THAT(read->embeddings, ElementsAre(ElementsAre(1, -2)));
  EXPECT_FALSE(read->usage_reported);
}

TEST(EmbeddingsJsonTest, WhatIsMissingIsSaid) {
  EXPECT_THAT(FaultOf("<html>"), HasSubstr("is not JSON (6 bytes); is base_url right?"));
  EXPECT_THAT(FaultOf("{}"), HasSubstr("has no \"data\""));
  EXPECT_THAT(FaultOf(R"({"data":[]})"), HasSubstr("0 embeddings of 1 texts"));
  EXPECT_THAT(FaultOf(R"({"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]})", 2),
              HasSubstr("data[1].index is 0"));
  EXPECT_THAT(FaultOf(R"({"data":[{"index":7,"embedding":[1]}]})"),
              HasSubstr("data[0].index is 7"));
  EXPECT_THAT(FaultOf(R"({"data":[{"index":0}]})"), HasSubstr("data[0].embedding: no embedding"));
  EXPECT_THAT(FaultOf(R"({"data":[{"embedding":[1,"x"]}]})"),
              HasSubstr("an element is not a number"));
  EXPECT_THAT(FaultOf(R"({"data":[{"embedding":[0,0]}]})"), HasSubstr("all are 0"));
  EXPECT_THAT(FaultOf(R"({"data":[{"embedding":[]}]})"), HasSubstr("no embedding"));
}

TEST(EmbeddingsJsonTest, AReplyIsTheEmbeddingOfTheWholeText) {
  EmbeddingsReader reader("aaaabb", 4);  // two pieces
  const auto outcome = reader.Finish(
      R"({"data":[{"index":0,"embedding":[3,0]},{"index":1,"embedding":[0,1]}],"model":"m"})");
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  const Embedding whole = DecodeEmbedding(outcome->reply.text).value();
  EXPECT_NEAR(whole[0] / whole[1], 2, 1e-6);
  EXPECT_EQ(outcome->reply.finish_reason, "stop");
  EmbeddingsReader refused("a", 4);
  EXPECT_EQ(refused.Finish(R"({"error":{"message":"no such model"}})")->error->message,
            "no such model");
  EmbeddingsReader uneven("aaaabb", 4);
  EXPECT_EQ(uneven.Finish(R"({"data":[{"embedding":[1,0]},{"embedding":[1]}]})").status().code(),
            absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace ksearch
