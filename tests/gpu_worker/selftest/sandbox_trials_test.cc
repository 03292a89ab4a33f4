// The self-test's findings on sandboxes that hold and on sandboxes that do not.
#include "gpu_worker/selftest/sandbox_trials.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Ends every program as the test wants.
class ScriptedSandbox final : public Sandbox {
 public:
  // Nullopt: it does not end by itself.
  using Ending = std::function<std::optional<SandboxExit>(const SandboxSpec& spec)>;
  explicit ScriptedSandbox(Ending ending) : ending_(std::move(ending)) {}

  absl::StatusOr<std::unique_ptr<SandboxedProcess>> Launch(const SandboxSpec& spec) override {
    return std::make_unique<Process>(ending_(spec));
  }
  v1::IsolationLevel isolation() const override {
    v1::IsolationLevel level;
    level.set_cgroup("v2");
    return level;
  }

 private:
  class Process final : public SandboxedProcess {
   public:
    explicit Process(std::optional<SandboxExit> exit) : exit_(std::move(exit)) {}
    std::optional<SandboxExit> Wait(absl::Time /*deadline*/) override { return exit_; }
    void Kill() override {}
    void StopKeepingOutput() override {}
    pid_t pid() const override { return 0; }

   private:
    const std::optional<SandboxExit> exit_;
  };
  const Ending ending_;
};

SandboxExit Code(int code, const std::string& output = "") {
  SandboxExit exit;
  exit.code = code;
  exit.output = output;
  return exit;
}

constexpr char kConfined[] =
    "Name:\tcat\nCapEff:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\n"
    "cgroup:[1]\nipc:[1]\nmnt:[1]\nnet:[1]\npid:[1]\nuser:[1]\nuts:[1]\n";

Finding IsolationOf(const std::string& output) {
  ScriptedSandbox sandbox([&](const SandboxSpec&) { return Code(0, output); });
  return TryIsolation(v1::SandboxSettings(), &sandbox);
}

TEST(SandboxTrialsTest, WhatAProgramLacksIsNamed) {
  EXPECT_EQ(IsolationOf(kConfined).level, Finding::Level::kOk) << IsolationOf(kConfined).text;
  std::string open = kConfined;
  open.replace(open.find("net:[1]\n"), 8, "");
  open.replace(open.find("CapEff:\t0"), 9, "CapEff:\t8");
  open.replace(open.find("Seccomp:\t2"), 10, "Seccomp:\t0");
  const Finding finding = IsolationOf(open);
  EXPECT_EQ(finding.level, Finding::Level::kWarn);
  EXPECT_THAT(finding.text, HasSubstr("namespace net"));
  EXPECT_THAT(finding.text, HasSubstr("a drop of all capabilities"));
  EXPECT_THAT(finding.text, HasSubstr("filter of system calls"));
  EXPECT_THAT(finding.text, Not(HasSubstr("namespace pid")));
  EXPECT_EQ(IsolationOf("").level, Finding::Level::kWarn);
}

TEST(SandboxTrialsTest, LimitsThatEndTheirProgramsHold) {
  ScriptedSandbox sandbox([](const SandboxSpec&) { return Code(1); });
  const Finding finding = TryLimits(v1::SandboxSettings(), &sandbox);
  EXPECT_EQ(finding.level, Finding::Level::kOk);
  EXPECT_THAT(finding.text, HasSubstr("memory (cgroups)"));
}

TEST(SandboxTrialsTest, LimitsThatDoNotHoldAreNamed) {
  ScriptedSandbox sandbox([](const SandboxSpec& spec) -> std::optional<SandboxExit> {
    if (absl::StrContains(spec.argv[2], "while :")) return std::nullopt;
    if (absl::StrContains(spec.argv[2], "tail")) return Code(0);
    return Code(2);
  });
  const Finding finding = TryLimits(v1::SandboxSettings(), &sandbox, absl::ZeroDuration());
  EXPECT_EQ(finding.level, Finding::Level::kFail);
  EXPECT_THAT(finding.text, testing::EndsWith("limit of: memory, processor time"));
}

}  // namespace
}  // namespace ksearch
