#include "cli/task/cheat_programs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "common/language.h"
#include "common/subprocess.h"

namespace ksearch {
namespace {

using testing::HasSubstr;

constexpr char kPython[] = "/usr/bin/python3";

std::string Python(const std::string& code) {
  SubprocessOptions options;
  options.argv = {kPython, "-I", "-B", "-c", code};
  const auto output = RunCommand(std::move(options), absl::Minutes(1));
  if (!output.ok()) return output.status().ToString();
  return output->exit.code == 0 && !output->exit.signaled ? output->out
                                                          : absl::StrCat("failed: ", output->err);
}

v1::TensorSpec Tensor(const std::string& name, const std::vector<std::string>& shape) {
  v1::TensorSpec tensor;
  tensor.set_name(name);
  tensor.set_dtype(v1::DTYPE_FLOAT32);
  for (const std::string& axis : shape) tensor.add_shape(axis);
  return tensor;
}

v1::Definition Definition(const std::vector<std::string>& output_shape) {
  v1::Definition definition;
  *definition.add_inputs() = Tensor("x", {"n", "d"});
  *definition.add_inputs() = Tensor("y", {"d"});
  *definition.add_outputs() = Tensor("z", output_shape);
  return definition;
}

v1::Sources Honest(const std::string& text) {
  v1::Sources sources;
  sources.set_language(FindLanguage("python")->id);
  v1::SourceFile* const file = sources.add_files();
  file->set_path("reference.py");
  file->set_content(text);
  return sources;
}

// What each cheat makes of x = 1, 2, 3, 4 (2 x 2), then of x + 10; y is 0, 0.
class CheatProgramsTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (Python("import torch\nprint('yes')") != "yes\n") {
      GTEST_SKIP() << kPython << " has no torch (Debian: python3-torch)";
    }
  }
  static std::string Answers(const CheatProgram& cheat) {
    EXPECT_EQ(cheat.sources.files(0).path(), "kernel.py");
    return Python(absl::StrCat(cheat.sources.files(0).content(), R"(

import torch
x, y = torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.zeros(2)
for values in (x, x + 10):
    z = torch.full((2, 2), float("nan"))
    run(values, y, z)
    print(z.flatten().tolist())
)"));
  }
};

TEST_P(CheatProgramsTest, DoWhatTheyAreCalledBy) {
  const auto cheats = CheatPrograms(Definition({"n", "d"}), Honest(GetParam()));
  ASSERT_EQ(cheats.size(), 4u);
  EXPECT_EQ(cheats[0].name, "zeros");
  EXPECT_EQ(Answers(cheats[0]), "[0.0, 0.0, 0.0, 0.0]\n[0.0, 0.0, 0.0, 0.0]\n");
  EXPECT_EQ(cheats[1].name, "copied");
  EXPECT_EQ(Answers(cheats[1]), "[1.0, 2.0, 3.0, 4.0]\n[11.0, 12.0, 13.0, 14.0]\n");
  EXPECT_EQ(cheats[2].name, "stale");
  EXPECT_EQ(Answers(cheats[2]), "[2.0, 4.0, 6.0, 8.0]\n[2.0, 4.0, 6.0, 8.0]\n");
  EXPECT_EQ(cheats[3].name, "truncated");
  EXPECT_EQ(Answers(cheats[3]), "[2.0, 4.0, 0.0, 0.0]\n[22.0, 24.0, 0.0, 0.0]\n");
}

INSTANTIATE_TEST_SUITE_P(BothForms, CheatProgramsTest,
                         testing::Values("def run(x, y):\n    return 2 * x + y\n",
                                         "def run(x, y, z):\n    z.copy_(2 * x + y)\n",
                                         "def run(x, y):\n    return (2 * x + y,)\n"));

TEST(CheatProgramsOfOtherShapesTest, NothingIsCopiedWhereNoInputFits) {
  const auto cheats = CheatPrograms(Definition({"n"}), Honest("def run(x, y): ..."));
  EXPECT_THAT(cheats[1].missing, HasSubstr("no input has the shape"));
  EXPECT_EQ(cheats[0].missing, "");
}

}  // namespace
}  // namespace ksearch
