#include "coordinator/llm/model_server/landscape/landscape_player.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/digest.h"
#include "common/memory_words.h"
#include "common/textproto.h"
#include "coordinator/llm/model_server/landscape/landscape_planner.h"
#include "coordinator/llm/model_server/landscape/landscape_program.h"

namespace ksearch {
namespace {

using Failure = v1::LandscapeFailure;

constexpr int kAdvice = 8;  // notes; the caller takes as many as it wants

uint64_t SeedOf(const LandscapePlayer::Question& question) {
  const std::string digest =
      CanonicalBytes().Add(question.call_id).Add(question.system).Add(question.user).Sha256();
  uint64_t seed = 0;
  const std::string bytes = absl::HexStringToBytes(digest.substr(0, 16));
  for (const char byte : bytes) seed = (seed << 8) | static_cast<unsigned char>(byte);
  return seed;
}

// Steps by which another program in the prompt differs from `point`: at most three, in random
// order.
std::optional<LandscapeChange> Borrowed(const LandscapePrompt& prompt, const LandscapePoint& point,
                                        Rng* rng) {
  std::vector<const LandscapeCode*> others;
  for (size_t i = 0; i < prompt.programs.size(); ++i) {
    const LandscapeCode& code = prompt.programs[i];
    if (i != prompt.subject && code.defect == Failure::KIND_UNSPECIFIED && code.point != point) {
      others.push_back(&code);
    }
  }
  if (others.empty()) return std::nullopt;
  const LandscapeCode& other = *others[rng->NextBelow(others.size())];
  LandscapeChange change;
  for (size_t i = 0; i < point.size(); ++i) {
    if (other.point[i] != point[i]) change.push_back({static_cast<int>(i), other.point[i]});
  }
  const size_t count = std::min<size_t>(change.size(), 1 + rng->NextBelow(3));
  for (size_t i = 0; i < count; ++i) {
    std::swap(change[i], change[i + rng->NextBelow(change.size() - i)]);
  }
  change.resize(count);
  std::sort(change.begin(), change.end());
  return change;
}

}  // namespace

LandscapePlayer::Reply LandscapePlayer::Answer(const Question& question) const {
  Rng rng(SeedOf(question));
  const LandscapePrompt prompt = ReadPrompt(landscape_, question.system, question.user);
  Reply reply;
  const absl::Duration spread = FromProto(landscape_.spec().delay_spread());
  reply.delay = FromProto(landscape_.spec().delay()) + spread * rng.NextDouble();
  switch (prompt.form) {
    case LandscapePrompt::Form::kInitialTree:
    case LandscapePrompt::Form::kEdits:
      reply.text = WritePlan(landscape_, KnowledgeOf(prompt), prompt, &rng);
      break;
    case LandscapePrompt::Form::kProgram:
      reply.text = WriteProgram(prompt, &rng);
      break;
    case LandscapePrompt::Form::kVerdict:
      reply.text = WriteVerdict(prompt, &rng);
      break;
    case LandscapePrompt::Form::kWords:
      reply.text = WriteWords(prompt, &rng);
      break;
  }
  return reply;
}

LandscapeKnowledge LandscapePlayer::KnowledgeOf(const LandscapePrompt& prompt) const {
  LandscapeView view;
  view.judges = prompt.form == LandscapePrompt::Form::kVerdict;
  view.priors = prompt.priors;
  return LandscapeKnowledge(landscape_, std::move(view));
}

std::string LandscapePlayer::WriteProgram(const LandscapePrompt& prompt, Rng* rng) const {
  const LandscapeKnowledge beliefs = KnowledgeOf(prompt);
  const v1::LandscapeKnowledge& knowledge = landscape_.spec().knowledge();
  const LandscapeCode* const subject =
      prompt.subject.has_value() ? &prompt.programs[*prompt.subject] : nullptr;
  const bool broken = subject != nullptr && subject->defect != Failure::KIND_UNSPECIFIED;
  const LandscapePoint& base = subject == nullptr ? landscape_.start() : subject->point;

  LandscapeChange change;
  std::string words;
  Failure::Kind defect = Failure::KIND_UNSPECIFIED;
  bool may_fail = true;
  if (broken) {
    may_fail = false;
    if (rng->NextDouble() < knowledge.repairs()) {
      words = "The program did not work; the faulty step is taken out.";
    } else {
      defect = subject->defect;
      words = "The program did not work; its steps are written again.";
    }
  } else if (!prompt.plan.empty() && Changed(base, prompt.plan) != base) {
    change = prompt.plan;
  } else if (!prompt.verdict.empty() && Changed(base, prompt.verdict) != base) {
    change = prompt.verdict;
  } else {
    std::optional<LandscapeChange> drawn;
    if (prompt.bottleneck != v1::BOTTLENECK_UNSPECIFIED) {
      LandscapeView view;
      view.bottleneck = prompt.bottleneck;
      drawn =
          LandscapeKnowledge(landscape_, std::move(view)).Draw(base, 1, {base}, prompt.tried, rng);
    }
    if (!drawn.has_value() && subject != nullptr && rng->NextDouble() < knowledge.borrows()) {
      drawn = Borrowed(prompt, base, rng);
    }
    if (!drawn.has_value()) {
      // A plan's own steps stay as the plan has them.
      std::set<LandscapeStep> tired = prompt.tried;
      const int count =
          DrawCount(subject == nullptr ? knowledge.first_changes() : knowledge.changes(), rng);
      std::set<LandscapePoint> avoid = {base};
      for (const LandscapeCode& code : prompt.programs) avoid.insert(code.point);
      drawn = beliefs.Draw(base, count, avoid, tired, rng);
    }
    if (drawn.has_value()) change = *drawn;
  }
  LandscapeCode code = {Changed(base, change), defect, ""};
  if (words.empty()) {
    words = absl::StrCat("Changed: ", WriteChange(landscape_, change),
                         IntentsOf(landscape_, change), ".");
  }
  if (may_fail) {
    for (const Failure& failure : landscape_.spec().failures()) {
      if (!landscape_.Meets(failure.when(), code.point)) continue;
      if (rng->NextDouble() >= failure.probability()) continue;
      if (failure.kind() == Failure::UNUSABLE) {
        return absl::StrCat(words, "\n\nThe rest of the program stays as it is.\n");
      }
      if (failure.kind() == Failure::LIE) {
        code = {base, Failure::KIND_UNSPECIFIED, ""};
      } else {
        code.defect = failure.kind();
      }
      break;
    }
  }
  // Makes programs with the same choices differ in their text, as a model's would.
  code.remark = absl::StrFormat("%08x", static_cast<uint32_t>(rng->Next()));
  return absl::StrCat(words, "\n\n<file path=\"kernel.cpp\">\n", RenderProgram(landscape_, code),
                      "</file>\n");
}

std::string LandscapePlayer::WriteVerdict(const LandscapePrompt& prompt, Rng* rng) const {
  const LandscapePoint& base =
      prompt.subject.has_value() ? prompt.programs[*prompt.subject].point : landscape_.start();
  const std::optional<LandscapeChange> change =
      KnowledgeOf(prompt).Draw(base, 1, {base}, prompt.tried, rng);
  std::string bottleneck = BottleneckWord(v1::BOTTLENECK_INSTRUCTIONS);
  std::string method = IntentWord(v1::INTENT_KIND_TUNE);
  std::string plan = "Make it as it is";
  if (change.has_value()) {
    const v1::LandscapeParameter& parameter = landscape_.spec().parameters(change->at(0).parameter);
    plan = absl::StrCat("Make it ", WriteChange(landscape_, *change));
    if (parameter.intent() != v1::INTENT_KIND_UNSPECIFIED) method = IntentWord(parameter.intent());
    if (parameter.bottleneck() != v1::BOTTLENECK_UNSPECIFIED) {
      bottleneck = BottleneckWord(parameter.bottleneck());
      plan = absl::StrCat("Change the ", parameter.meaning());
    }
  }
  return absl::StrCat("BOTTLENECK: ", bottleneck, "\nMETHOD: ", method, "\nPLAN: ", plan, ".\n");
}

std::string LandscapePlayer::WriteWords(const LandscapePrompt& prompt, Rng* rng) const {
  // The first program that a request for advice shows is the best one.
  const LandscapePoint& base =
      prompt.programs.empty() ? landscape_.start() : prompt.programs[0].point;
  std::set<LandscapePoint> avoid = {base};
  for (const LandscapeCode& code : prompt.programs) avoid.insert(code.point);
  const LandscapeKnowledge beliefs = KnowledgeOf(prompt);
  std::string text;
  for (int i = 0; i < kAdvice; ++i) {
    const bool pair = rng->NextDouble() < landscape_.spec().knowledge().paired_plans();
    const auto change = beliefs.Draw(base, pair ? 2 : 1, avoid, prompt.tried, rng);
    if (!change.has_value()) break;
    avoid.insert(Changed(base, *change));
    absl::StrAppend(&text, "- Make it ", WriteChange(landscape_, *change),
                    IntentsOf(landscape_, *change), ".\n");
  }
  return text.empty() ? "- Nothing more comes to mind.\n" : text;
}

}  // namespace ksearch
