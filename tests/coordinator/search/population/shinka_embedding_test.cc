// Strategy shinka with embeddings: it rejects programs that are too similar by cosine, and without
// embeddings, or once they fail, by the tokens that programs share.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "coordinator/llm/embedding/embedding.h"
#include "coordinator/search/population/shinka.h"
#include "tests/coordinator/search/attempts/attempt_driver.h"

namespace ksearch {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

std::unique_ptr<SearchStrategy> Make(const SearchContext& context) {
  v1::ShinkaSettings settings = context.config.shinka();
  SettingFaults faults;
  Shinka::Complete(&settings, &faults);
  EXPECT_THAT(faults.all(), testing::IsEmpty());
  return std::make_unique<AttemptSearch>("shinka", context, FakeAttemptProposer(),
                                         std::make_unique<Shinka>(settings, context.programs));
}

SearchContext Context(int rounds, int parallel = 1, bool embeddings = true) {
  SearchContext context = AttemptContext(rounds, parallel);
  context.config.mutable_shinka()->set_notes_interval(0);
  context.config.mutable_shinka()->set_patch_weight(0);
  context.config.mutable_shinka()->set_embeddings(embeddings);
  return context;
}

// The embedding that a text names: "... angle=<degrees> ...".
std::string EmbeddingNamedIn(const std::string& text) {
  const size_t at = text.find("angle=");
  const double degrees = at == std::string::npos ? 0 : std::stod(text.substr(at + 6));
  const double radians = degrees * 3.14159265358979 / 180;
  return EncodeEmbedding(
      {static_cast<float>(std::cos(radians)), static_cast<float>(std::sin(radians))});
}

// Replies with the programs in order; cos(8 degrees) is 0.9903, cos(9 degrees) is 0.9877.
AttemptDriver::Reply Programs(std::vector<std::string> programs) {
  auto next = std::make_shared<size_t>(0);
  return [programs = std::move(programs), next](const AskModel& ask) -> std::string {
    if (ask.role == kEmbeddingRole) return EmbeddingNamedIn(ask.user);
    return (*next)++ < programs.size() ? programs[*next - 1] : absl::StrCat("late angle=180 fail");
  };
}

std::vector<std::string> Notes(const AttemptDriver& driver) {
  std::vector<std::string> notes;
  for (const v1::RunEvent& event : driver.events) {
    if (event.kind() == v1::RunEvent::NOTE && (absl::StrContains(event.text(), "not evaluated") ||
                                               absl::StrContains(event.text(), "embeddings"))) {
      notes.push_back(event.text());
    }
  }
  return notes;
}

std::vector<std::string> Screened(const AttemptDriver& driver) {
  std::vector<std::string> texts;
  for (const ScreenCandidate& screen : driver.screened) {
    texts.push_back(screen.sources.files(0).content());
  }
  return texts;
}

TEST(ShinkaEmbeddingTest, WhatIsNearByCosineIsRefusedWhateverItsTokens) {
  // No token in common but nearly the same meaning, and the reverse.
  AttemptDriver driver(Context(3), Make,
                       Programs({"alpha beta gamma delta epsilon angle=0 score=1",
                                 "other words for the very same thing angle=8 score=2",
                                 "alpha beta gamma delta epsilon angle=9 score=1",
                                 "something quite new altogether angle=90 score=3"}));
  driver.Start();
  driver.Run();
  EXPECT_THAT(Screened(driver), ElementsAre("alpha beta gamma delta epsilon angle=0 score=1",
                                            "alpha beta gamma delta epsilon angle=9 score=1",
                                            "something quite new altogether angle=90 score=3"));
  EXPECT_THAT(Notes(driver),
              ElementsAre(AllOf(HasSubstr("not evaluated: its embedding has the cosine 0.9903"),
                                HasSubstr("of its island"))));
  // The question is the program itself, in a separate role, and does not count as a round.
  EXPECT_THAT(driver.asked, Contains(testing::AllOf(
                                testing::Field(&AskModel::role, "embedding"),
                                testing::Field(&AskModel::system, ""),
                                testing::Field(&AskModel::user, HasSubstr("angle=8 score=2")))));
  EXPECT_EQ(driver.state().rounds_done(), 3);
}

TEST(ShinkaEmbeddingTest, WithoutEmbeddingsTokensCount) {
  AttemptDriver driver(Context(3, 1, /*embeddings=*/false), Make,
                       Programs({"alpha beta gamma delta epsilon angle=0 score=1",
                                 "other words for the very same thing angle=8 score=2",
                                 "alpha  beta gamma delta epsilon  angle=0 score=1",
                                 "something quite new altogether angle=90 score=3"}));
  driver.Start();
  driver.Run();
  for (const AskModel& ask : driver.asked) EXPECT_NE(ask.role, kEmbeddingRole);
  EXPECT_THAT(Screened(driver), SizeIs(3));
  EXPECT_THAT(Notes(driver), ElementsAre(HasSubstr("not evaluated: 1.000 of it is in program")));
}

TEST(ShinkaEmbeddingTest, AFailingEndpointIsToldOnceAndStopsNothing) {
  for (const bool transient : {false, true}) {
    AttemptDriver driver(Context(4, 2), Make,
                         Programs({"alpha beta gamma delta epsilon angle=0 score=1",
                                   "other words for the very same thing angle=8 score=2",
                                   "alpha  beta gamma delta epsilon  angle=0 score=1",
                                   "something quite new altogether angle=90 score=3",
                                   "and the last one of them all angle=45 score=1"}));
    driver.fault = [&](const AskModel& ask) {
      if (ask.role != kEmbeddingRole) return absl::OkStatus();
      return transient ? absl::UnavailableError("overloaded")
                       : absl::NotFoundError("no such model: e");
    };
    driver.Start();
    driver.Run();
    EXPECT_FALSE(driver.failed());
    EXPECT_EQ(driver.state().rounds_done(), 4);
    EXPECT_THAT(Screened(driver), SizeIs(4));
    const std::vector<std::string> notes = Notes(driver);
    ASSERT_THAT(notes, SizeIs(2));
    EXPECT_THAT(notes, Contains(AllOf(HasSubstr("no more embeddings in this run"),
                                      HasSubstr(transient ? "overloaded" : "no such model: e"))));
    EXPECT_THAT(notes, Contains(HasSubstr("1.000 of it is in program"))) << "tokens count";
    int asked = 0;
    for (const AskModel& ask : driver.asked) asked += ask.role == kEmbeddingRole ? 1 : 0;
    EXPECT_LE(asked, 2) << "those under way, and no more";
  }
}

TEST(ShinkaEmbeddingTest, AnAnswerThatIsNoEmbeddingIsAFailure) {
  AttemptDriver driver(Context(2), Make, [](const AskModel& ask) -> std::string {
    if (ask.role == kEmbeddingRole) return "[0.1, 0.2]";
    return absl::StrCat("program ", ask.call_number, " with some words score=1");
  });
  driver.Start();
  driver.Run();
  EXPECT_THAT(Screened(driver), SizeIs(2));
  EXPECT_THAT(Notes(driver), ElementsAre(HasSubstr("no embedding: not base64")));
}

TEST(ShinkaEmbeddingTest, EmbeddingsAreAskedForAgainOnceTheRunIsTakenUpAgain) {
  SearchContext context = Context(1);
  bool down = true;
  AttemptDriver driver(
      context, Make, Programs({"one of them angle=0 score=1", "another of them angle=90 score=2"}));
  driver.fault = [&](const AskModel& ask) {
    return down && ask.role == kEmbeddingRole ? absl::UnavailableError("down") : absl::OkStatus();
  };
  driver.Start();
  driver.Run();
  EXPECT_NE(driver.state().embedding_refused(), "");
  down = false;
  context.config.set_rounds(2);
  driver.Restart(context);
  driver.Run();
  EXPECT_EQ(driver.state().embedding_refused(), "");
  EXPECT_GT(driver.state().shinka().members(2).features().embedding_call(), 0);
}

TEST(ShinkaEmbeddingTest, GivenProgramsAreEmbeddedBeforeTheFirstAttempt) {
  SearchContext context = Context(2);
  for (const char* text : {"given one angle=0 score=1", "given two angle=90 score=1.5"}) {
    v1::SourceFile* file = context.config.add_seeds()->add_files();
    file->set_path("kernel.cpp");
    file->set_content(text);
  }
  AttemptDriver driver(context, Make,
                       Programs({"wholly different words here angle=3 score=2",
                                 "and different ones once more angle=45 score=3",
                                 "so that there are enough of them angle=30 score=2"}));
  driver.restart_before_every_step = true;
  driver.Start();
  driver.Run();
  ASSERT_GE(driver.asked.size(), 4u);
  EXPECT_EQ(driver.asked[0].user, "given one angle=0 score=1");
  EXPECT_EQ(driver.asked[1].user, "given two angle=90 score=1.5");
  EXPECT_EQ(driver.asked[2].role, "code");
  EXPECT_THAT(Notes(driver), ElementsAre(HasSubstr("its embedding has the cosine 0.9986")));
  const v1::AttemptSearchState state = driver.state();
  for (const v1::PopulationMember& member : state.shinka().members()) {
    EXPECT_GT(member.features().embedding_call(), 0) << member.candidate_id();
  }
}

TEST(ShinkaEmbeddingTest, AFailureWithGivenProgramsDoesNotHoldTheRunUp) {
  SearchContext context = Context(1);
  for (const char* text : {"given one score=1", "given two score=1.5"}) {
    v1::SourceFile* file = context.config.add_seeds()->add_files();
    file->set_path("kernel.cpp");
    file->set_content(text);
  }
  AttemptDriver driver(context, Make, Programs({"a program made here score=2"}));
  driver.fault = [&](const AskModel& ask) {
    return ask.role == kEmbeddingRole ? absl::NotFoundError("no such model") : absl::OkStatus();
  };
  driver.Start();
  driver.Run();
  EXPECT_THAT(Notes(driver), ElementsAre(HasSubstr("no more embeddings in this run")));
  EXPECT_EQ(driver.state().rounds_done(), 1);
}

// The same program from two attempts at once: one embedding, one evaluation, in every order.
TEST(ShinkaEmbeddingTest, TwinsAreEmbeddedAndEvaluatedOnce) {
  for (int order = 0; order < 8; ++order) {
    AttemptDriver driver(Context(4, 3), Make, [](const AskModel& ask) -> std::string {
      if (ask.role == kEmbeddingRole) return EmbeddingNamedIn(ask.user);
      return ask.labels.attempt <= 3 ? "the one program of them all angle=10 score=1"
                                     : "another program altogether angle=70 score=2";
    });
    driver.pick = [&](size_t count) { return static_cast<size_t>(order) % count; };
    driver.restart_before_every_step = order % 2 == 1;
    driver.Start();
    driver.Run();
    EXPECT_THAT(Screened(driver), SizeIs(2)) << order;
    int asked = 0;
    for (const AskModel& ask : driver.asked) asked += ask.role == kEmbeddingRole ? 1 : 0;
    EXPECT_EQ(asked, 2) << order;
    EXPECT_EQ(driver.state().rounds_done(), 4) << order;
  }
}

// A search stays the same search if it restarts from its state at any moment.
TEST(ShinkaEmbeddingTest, RestartsChangeNothing) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const auto run = [&](bool restarts) {
      SearchContext context = Context(12, 3);
      context.config.set_seed(seed);
      AttemptDriver driver(context, Make, [&](const AskModel& ask) -> std::string {
        if (ask.role == kEmbeddingRole) return EmbeddingNamedIn(ask.user);
        Rng rng(seed, static_cast<uint64_t>(ask.call_number));
        return absl::StrCat("program ", ask.call_number, " angle=", rng.NextBelow(60),
                            " score=", 1 + rng.NextDouble());
      });
      driver.restart_before_every_step = restarts;
      driver.pick = [&driver](size_t count) { return driver.transcript.size() * 7 % count; };
      driver.fault = [&](const AskModel& ask) {
        return seed % 4 == 0 && ask.call_number > 9 && ask.role == kEmbeddingRole
                   ? absl::UnavailableError("down")
                   : absl::OkStatus();
      };
      driver.Start();
      driver.Run();
      return absl::StrJoin(driver.transcript, "--\n");
    };
    const std::string through = run(false);
    EXPECT_EQ(run(true), through) << "seed " << seed;
    EXPECT_THAT(through, HasSubstr("embed/")) << "seed " << seed;
  }
}

TEST(ShinkaEmbeddingTest, ItsStatusTellsOfThePhase) {
  AttemptDriver driver(Context(1), Make, Programs({"a program angle=1 score=1"}));
  driver.Start();
  ASSERT_TRUE(driver.Step());
  v1::RunStatus status;
  driver.strategy().Describe(&status);
  ASSERT_EQ(status.cycles_size(), 1);
  EXPECT_EQ(status.cycles(0).phase(), "embedding");
}

}  // namespace
}  // namespace ksearch
