#include "coordinator/proposer/prompt_assembler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ksearch {
namespace {

using Priority = PromptPart::Priority;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

TEST(PromptAssemblerTest, PartsKeepTheirOrder) {
  std::vector<std::string> dropped;
  EXPECT_EQ(PromptAssembler(1000)
                .Add({"a", "First", "one\n\n", Priority::kRequired})
                .Add({"none", "Nothing", " \n", Priority::kRequired})
                .Add({"b", "", "two"})
                .Assemble(&dropped),
            "# First\none\n\ntwo\n");
  EXPECT_THAT(dropped, IsEmpty());
}

TEST(PromptAssemblerTest, APartKeepsToItsOwnBudget) {
  std::vector<std::string> dropped;
  const std::string text =
      PromptAssembler(100000)
          .Add({"log", "Log", std::string(4000, 'x'), Priority::kRequired, 200})
          .Assemble(&dropped);
  EXPECT_LE(EstimateTokens(text), 210);
  EXPECT_THAT(dropped, ElementsAre(StartsWith("log: kept ")));
  EXPECT_THAT(dropped[0], HasSubstr(" of 1000 tokens"));
}

TEST(PromptAssemblerTest, TheLeastImportantGivesWayFirst) {
  std::vector<std::string> dropped;
  const std::string text =
      PromptAssembler(700)
          .Add({"required", "", std::string(1200, 'r'), Priority::kRequired})
          .Add({"background", "", std::string(1200, 'b'), Priority::kBackground})
          .Add({"important", "", std::string(1200, 'i'), Priority::kImportant})
          .Assemble(&dropped);
  EXPECT_LE(EstimateTokens(text), 700);
  EXPECT_THAT(text, HasSubstr(std::string(1200, 'r')));
  EXPECT_THAT(text, HasSubstr(std::string(1200, 'i')));
  EXPECT_THAT(dropped, ElementsAre(StartsWith("background: kept ")));
}

TEST(PromptAssemblerTest, WhatWouldBeTooShortIsDropped) {
  std::vector<std::string> dropped;
  const std::string text =
      PromptAssembler(320)
          .Add({"required", "", std::string(1200, 'r'), Priority::kRequired})
          .Add({"background", "Back", std::string(1200, 'b'), Priority::kBackground})
          .Assemble(&dropped);
  EXPECT_THAT(text, Not(HasSubstr("Back")));
  EXPECT_THAT(dropped, ElementsAre("background: kept 0 of 300 tokens"));
}

TEST(PromptAssemblerTest, RequiredPartsStayEvenOverTheWholeBudget) {
  std::vector<std::string> dropped;
  EXPECT_THAT(PromptAssembler(10)
                  .Add({"required", "", std::string(400, 'r'), Priority::kRequired})
                  .Assemble(&dropped),
              HasSubstr(std::string(400, 'r')));
  EXPECT_THAT(dropped, IsEmpty());
}

TEST(PromptAssemblerTest, TokensAreAQuarterOfTheBytes) {
  EXPECT_EQ(EstimateTokens(""), 0);
  EXPECT_EQ(EstimateTokens("abcde"), 2);
}

}  // namespace
}  // namespace ksearch
