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
  std::string Write(const std::string& name) { return Write(name, "text of " + name + "\n"); }
  std::string Write(const std::string& name, const std::string& text) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
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
  EXPECT_THAT(Read({(folder_ / "r").string()}, "gemm"),
              ElementsAre(HasSubstr("record.json: is not a JSON object")));
  Write("r/record.json", R"({"task": "softmax", "speedup": 2})");
  EXPECT_THAT(Read({(folder_ / "r").string()}, "softmax"), ElementsAre("kernel.cu"));
  EXPECT_THAT(Read({(folder_ / "r").string()}, "gemm"),
              ElementsAre(HasSubstr("/r: its program is for task softmax, not for gemm")));
}

TEST_F(SeedProgramsTest, TheFirstIsTheRunsSeedAndTheOthersFollow) {
  v1::RunConfig config;
  config.add_seed_solution()->set_path("old.cpp");
  config.add_seeds()->set_origin("old");
  std::vector<v1::SeedProgram> seeds(3);
  seeds[0].add_files()->set_path("a.cpp");
  seeds[1].set_origin("b");
  seeds[2].set_origin("c");
  SetSeedPrograms(seeds, &config);
  ASSERT_EQ(config.seed_solution_size(), 1);
  EXPECT_EQ(config.seed_solution(0).path(), "a.cpp");
  ASSERT_EQ(config.seeds_size(), 2);
  EXPECT_EQ(config.seeds(1).origin(), "c");
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
