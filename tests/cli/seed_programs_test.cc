#include "cli/seed_programs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_join.h"

namespace ksearch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
namespace fs = std::filesystem;

class SeedProgramsTest : public testing::Test {
 protected:
  SeedProgramsTest() : folder_(fs::path(testing::TempDir()) / "seed_programs") {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  std::string Write(const std::string& name) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << "text of " << name << "\n";
    return (folder_ / name).string();
  }
  // "a.cu,b.h" of each program.
  std::vector<std::string> Read(const std::vector<std::string>& values,
                                const std::string& task = "") {
    const auto seeds = ReadSeedPrograms(values, task, [](const std::string& run_id) {
      v1::BestReply best;
      best.set_task("softmax");
      v1::SourceFile* file = best.mutable_sources()->add_files();
      file->set_path(run_id + ".cpp");
      return best;
    });
    if (!seeds.ok()) return {std::string(seeds.status().message())};
    std::vector<std::string> programs;
    for (const v1::SeedProgram& seed : *seeds) {
      programs.push_back(absl::StrJoin(
          seed.files(), ",", [](std::string* out, const auto& file) { *out += file.path(); }));
    }
    return programs;
  }

  const fs::path folder_;
};

TEST_F(SeedProgramsTest, EveryFileIsAProgramAndHeadersBelongToTheOneBefore) {
  EXPECT_THAT(Read({Write("a.cu"), Write("tile.cuh"), Write("b.cu"), Write("c.cpp")}),
              ElementsAre("a.cu,tile.cuh", "b.cu", "c.cpp"));
}

TEST_F(SeedProgramsTest, AFolderIsOneProgram) {
  Write("f/kernel.cpp");
  Write("f/tile.h");
  Write("f/notes.md");
  Write("f/deeper/more.cpp");
  EXPECT_THAT(Read({(folder_ / "f").string(), Write("b.cpp")}),
              ElementsAre("kernel.cpp,tile.h", "b.cpp"));
  Write("g/notes.md");
  EXPECT_THAT(Read({(folder_ / "g").string()}),
              ElementsAre(HasSubstr("the folder has no program")));
}

TEST_F(SeedProgramsTest, AResultIsItsKernel) {
  Write("r/kernel.cu");
  Write("r/kernel_fastest_elsewhere.cu");
  Write("r/record.json");
  EXPECT_THAT(Read({(folder_ / "r").string()}), ElementsAre("kernel.cu"));
}

TEST_F(SeedProgramsTest, ARunGivesItsBestProgramIfItIsOfTheSameTask) {
  EXPECT_THAT(Read({"run:1234"}, "softmax"), ElementsAre("1234.cpp"));
  EXPECT_THAT(
      Read({"run:1234"}, "gemm"),
      ElementsAre("--seed-solution run:1234: its program is for task softmax, not for gemm"));
}

TEST_F(SeedProgramsTest, WhatIsNotThereIsNamed) {
  EXPECT_THAT(Read({(folder_ / "missing.cu").string()}), ElementsAre(HasSubstr("missing.cu")));
}

}  // namespace
}  // namespace ksearch
