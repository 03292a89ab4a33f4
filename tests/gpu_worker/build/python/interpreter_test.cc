#include "gpu_worker/build/python/interpreter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"

namespace ksearch {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kPath[] = "/opt/venv/bin/python3";

std::string Printed(const std::string& rest = "") {
  return absl::StrCat("implementation\tcpython\npython\t3.12.3\ntorch\t2.11.0+cu130\n", rest);
}
std::string Fault(const std::string& printed) {
  const auto parsed = ParseInterpreter(kPath, printed);
  EXPECT_FALSE(parsed.ok());
  return std::string(parsed.status().message());
}

TEST(InterpreterTest, VersionsAndFoldersAreRead) {
  const auto parsed = ParseInterpreter(
      kPath, Printed("triton\t3.6.0\n"
                     "folder\t/usr\nfolder\t/usr/lib/python3.12\nfolder\t/opt/venv\n"
                     "folder\t/opt/venv/lib/python3.12/site-packages\nfolder\t/opt/venv-2/\n"
                     "folder\t/data/python/../python/3.12\nfolder\trelative\nnoise\n"));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->path, kPath);
  EXPECT_EQ(VersionsOf(*parsed), "python 3.12.3, torch 2.11.0+cu130, triton 3.6.0");
  EXPECT_THAT(parsed->folders, ElementsAre("/data/python/3.12", "/opt/venv", "/opt/venv-2"));
  EXPECT_EQ(VersionsOf(*ParseInterpreter(kPath, Printed())), "python 3.12.3, torch 2.11.0+cu130");
  EXPECT_EQ(VersionsOf(*ParseInterpreter(kPath, Printed("tvm-ffi\t0.1.15\ntilelang\t0.1.7\n"))),
            "python 3.12.3, torch 2.11.0+cu130, tvm-ffi 0.1.15, tilelang 0.1.7");
}

TEST(InterpreterTest, WhatIsMissingIsSaidWithWhatToDo) {
  EXPECT_THAT(Fault("implementation\tcpython\npython\t3.11.2\n"
                    "torch_error\tModuleNotFoundError: No module named 'torch'\n"),
              AllOf(HasSubstr("No module named 'torch'"), HasSubstr(kPath),
                    HasSubstr("-m pip install torch"), HasSubstr("--with-python")));
  EXPECT_THAT(Fault("implementation\tcpython\npython\t3.8.19\ntorch\t2.0\n"),
              AllOf(HasSubstr("3.8.19"), HasSubstr("3.9 or newer")));
  EXPECT_THAT(Fault("implementation\tpypy\npython\t3.10.1\ntorch\t2.0\n"), HasSubstr("pypy"));
  EXPECT_THAT(Fault(""), HasSubstr("did not say"));
  EXPECT_THAT(Fault("python\tthree\n"), HasSubstr("3.9 or newer"));
}

TEST(InterpreterTest, AllThatGpusNeedAndIsMissingIsSaidAtOnce) {
  const auto whole = ParseInterpreter(
      kPath, Printed("triton\t3.6.0\ntorch_cuda\t13.0\nheaders\t/usr/include/python3.12\n"
                     "c_compiler\t/usr/bin/gcc\n"));
  ASSERT_TRUE(whole.ok()) << whole.status();
  EXPECT_TRUE(CheckGpuParts(*whole).ok()) << CheckGpuParts(*whole);
  const auto bare = ParseInterpreter(kPath, Printed("torch_cuda\t\n"));
  ASSERT_TRUE(bare.ok()) << bare.status();
  EXPECT_THAT(std::string(CheckGpuParts(*bare).message()),
              AllOf(HasSubstr("built without CUDA"), HasSubstr("-m pip install triton"),
                    HasSubstr("python3-dev"), HasSubstr("neither gcc nor clang")));
}

// An environment in a user's home folder would show all of that folder to candidates.
TEST(InterpreterTest, FoldersOfTheWholeMachineAreNotShown) {
  for (const char* folder : {"/", "/home", "/home/ada", "/root", "/etc", "/opt", "/tmp", "/var/"}) {
    EXPECT_THAT(Fault(Printed(absl::StrCat("folder\t", folder, "\n"))),
                HasSubstr("in its own folder"))
        << folder;
  }
  EXPECT_TRUE(ParseInterpreter(kPath, Printed("folder\t/home/ada/venv\n")).ok());
}

TEST(InterpreterTest, AnyBytesGiveShortPrintableVersions) {
  const auto parsed =
      ParseInterpreter(kPath, absl::StrCat("implementation\tcpython\npython\t3.12.\x01\xff",
                                           std::string(5000, '9'), "\ntorch\t2\x1b[0m\n"));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_LE(parsed->python.size(), 100u);
  EXPECT_EQ(parsed->torch, "2?[0m");
}

TEST(InterpreterTest, IsTheConfiguredOneThenTheEnvironmentsThenTheOneOnPath) {
  std::string folder = testing::TempDir() + "interpreter_test.XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  std::filesystem::create_directories(folder + "/venv/bin");
  // A link counts by its own path, not by its target.
  std::filesystem::create_symlink("/bin/sh", folder + "/venv/bin/python3");
  EXPECT_EQ(FindInterpreter("/bin/sh", folder + "/venv").value(), "/bin/sh");
  EXPECT_EQ(FindInterpreter("", folder + "/venv").value(), folder + "/venv/bin/python3");
  EXPECT_EQ(FindInterpreter(folder + "/venv/../venv/bin/python3", "").value(),
            folder + "/venv/bin/python3");
  const auto missing = FindInterpreter("", folder);
  EXPECT_EQ(missing.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(missing.status().message()),
              AllOf(HasSubstr("VIRTUAL_ENV"), HasSubstr(folder + "/bin/python3"),
                    HasSubstr("interpreter:")));
  EXPECT_THAT(std::string(FindInterpreter("/no/python", "").status().message()),
              AllOf(HasSubstr("interpreter"), HasSubstr("/no/python")));
  std::filesystem::remove_all(folder);
}

TEST(InterpreterTest, WhatDoesNotRunIsSaid) {
  const auto described = DescribeInterpreter("/bin/false");
  EXPECT_EQ(described.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(described.status().message()),
              AllOf(HasSubstr("/bin/false"), HasSubstr("status 1")));
}

}  // namespace
}  // namespace ksearch
