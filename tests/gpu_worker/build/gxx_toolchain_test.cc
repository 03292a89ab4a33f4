#include "gpu_worker/build/gxx_toolchain.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "common/digest.h"
#include "common/textproto.h"
#include "gpu_worker/build/compile/compile_step.h"
#include "gpu_worker/build/toolchain_factory.h"
#include "gpu_worker/sandbox/sandbox_factory.h"
#include "tests/gpu_worker/sandbox/unprivileged_main.h"

namespace ksearch {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kHeader[] =
    "#pragma once\n"
    "struct KsearchArgs { long long n; };\n"
    "extern \"C\" __attribute__((visibility(\"default\"))) int ksearch_run(const KsearchArgs*);\n";

BuildRequest Request(std::initializer_list<std::pair<std::string, std::string>> files) {
  BuildRequest request;
  request.sources.set_language(v1::LANGUAGE_CPP);
  for (const auto& [path, content] : files) {
    v1::SourceFile* file = request.sources.add_files();
    file->set_path(path);
    file->set_content(content);
  }
  request.kernel_header = kHeader;
  *request.limits.mutable_build_time() = ToProto(absl::Seconds(60));
  return request;
}

BuildRequest Kernel(const std::string& before, const std::string& body = "return 0;") {
  return Request({{"kernel.cpp", absl::StrCat("#include \"ksearch_task.h\"\n", before,
                                              "\nint ksearch_run(const KsearchArgs* args) {\n"
                                              "  (void)args;\n  ",
                                              body, "\n}\n")}});
}

// The clock ends it, not the processor time of its threads, which looks like a machine that killed
// it.
TEST(CompileSpecTest, ThreadsMayKeepManyCoresBusyForTheWholeTime) {
  v1::Limits limits;
  *limits.mutable_build_time() = ToProto(absl::Seconds(300));
  const BuildFolder folder(ScratchFolder() + "/build/none");
  const SandboxSpec spec = CompileSpec({}, folder, limits, int64_t{1} << 30);
  EXPECT_GE(spec.cpu_time, 64 * absl::Seconds(300));
  EXPECT_EQ(spec.memory_bytes, int64_t{1} << 30);
}

class GxxToolchainTest : public testing::Test {
 protected:
  void SetUp() override {
    auto sandbox = MakeSandbox(v1::SandboxSettings());
    ASSERT_TRUE(sandbox.ok()) << sandbox.status();
    sandbox_ = *std::move(sandbox);
    GxxToolchain::Options options;
    options.work_dir = ScratchFolder() + "/build";
    auto toolchain = GxxToolchain::Create(std::move(options), sandbox_.get());
    ASSERT_TRUE(toolchain.ok()) << toolchain.status();
    toolchain_ = *std::move(toolchain);
  }

  BuildResult Build(const BuildRequest& request) {
    auto result = toolchain_->Build(request, {});
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? *result : BuildResult();
  }

  std::unique_ptr<Sandbox> sandbox_;
  std::unique_ptr<GxxToolchain> toolchain_;
};

TEST_F(GxxToolchainTest, BuildsALoadableObject) {
  const BuildResult result = Build(
      Request({{"kernel.cpp",
                "#include \"ksearch_task.h\"\n#include \"sub/f.h\"\n"
                "int ksearch_run(const KsearchArgs* args) { return f(args->n); }\n"},
               {"sub/f.h", "int f(long long n);\n"},
               {"sub/f.cc",
                "#include \"ksearch_task.h\"\n#include <thread>\n"
                "int f(long long n) { int r = 0; std::thread([&] { r = int(n) + 1; }).join(); "
                "return r; }\n"}}));
  ASSERT_EQ(result.outcome, v1::OUTCOME_PASSED) << result.message << result.report.log_excerpt();
  const auto object = ReadFile(result.artifact_path, 16 << 20);
  ASSERT_TRUE(object.ok()) << object.status();
  EXPECT_EQ(result.report.artifact_sha256(), Sha256Hex(*object));
  EXPECT_EQ(result.report.artifact_bytes(), static_cast<int64_t>(object->size()));
  EXPECT_THAT(result.report.compiler(), HasSubstr("g++"));
  EXPECT_THAT(result.report.flags(), HasSubstr("-O3"));
  EXPECT_GT(FromProto(result.report.wall_time()), absl::ZeroDuration());
  void* library = ::dlopen(result.artifact_path.c_str(), RTLD_NOW);
  ASSERT_NE(library, nullptr) << ::dlerror();
  struct {
    long long n = 41;
  } args;
  const auto run = reinterpret_cast<int (*)(const void*)>(::dlsym(library, "ksearch_run"));
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(run(&args), 42);
  ::dlclose(library);
}

TEST_F(GxxToolchainTest, CompileErrorNamesFileAndLine) {
  const BuildResult result = Build(Kernel("int broken = undeclared;"));
  EXPECT_EQ(result.outcome, v1::OUTCOME_COMPILE_ERROR);
  EXPECT_THAT(result.message, HasSubstr("kernel.cpp:2: "));
  ASSERT_GE(result.report.diagnostics_size(), 1);
  EXPECT_EQ(result.report.diagnostics(0).line(), 2);
  EXPECT_THAT(result.report.log_excerpt(), HasSubstr("undeclared"));
  EXPECT_EQ(result.artifact_path, "");
}

// OpenMP is off: such a program is right and slow.
TEST_F(GxxToolchainTest, PragmasWithoutEffectAreWarnings) {
  const BuildResult result =
      Build(Request({{"kernel.cpp",
                      "#include \"ksearch_task.h\"\n"
                      "int ksearch_run(const KsearchArgs* args) {\n"
                      "#pragma omp parallel for\n"
                      "  for (int i = 0; i < 3; ++i) {}\n  return args == nullptr;\n}\n"}}));
  EXPECT_EQ(result.outcome, v1::OUTCOME_PASSED) << result.message;
  ASSERT_EQ(result.report.diagnostics_size(), 1);
  EXPECT_EQ(result.report.diagnostics(0).severity(), "warning");
  EXPECT_EQ(result.report.diagnostics(0).line(), 3);
  EXPECT_THAT(result.report.diagnostics(0).message(), HasSubstr("#pragma omp parallel"));
}

TEST_F(GxxToolchainTest, AnEntryOfAnotherInterfaceIsToldWhatItMustBe) {
  const BuildResult result =
      Build(Request({{"kernel.cpp",
                      "#include \"ksearch_task.h\"\n"
                      "extern \"C\" int ksearch_run(float* x) { return 0; }\n"}}));
  EXPECT_EQ(result.outcome, v1::OUTCOME_COMPILE_ERROR);
  EXPECT_THAT(
      result.message,
      HasSubstr("the entry must be: extern \"C\" int ksearch_run(const KsearchArgs* args)"));
}

// What the log quotes from the sources must not be taken for the tools' own words.
TEST_F(GxxToolchainTest, WordsOfTheSourcesAreNoLimit) {
  const std::string words =
      "#include <new>\n#warning out of memory allocating, No space left on device, file "
      "truncated\n";
  BuildResult result = Build(Kernel(words));
  EXPECT_EQ(result.outcome, v1::OUTCOME_PASSED) << result.message;
  result = Build(Kernel(
      words,
      "try { return undeclared; } catch (const std::bad_alloc&) { return undeclared_too; }"));
  EXPECT_EQ(result.outcome, v1::OUTCOME_COMPILE_ERROR) << result.message;
  EXPECT_THAT(result.message, HasSubstr("undeclared"));
}

// The driver would say so of a compiler that the machine killed; an assembler prints what the
// sources please, at the beginning of a line too.
TEST_F(GxxToolchainTest, AnAssemblersPrintIsNoKilledCompiler) {
  for (const char* words : {"g++: fatal error: Killed signal terminated program cc1plus",
                            "nvcc error : 'cicc' died due to signal 9 (Kill signal)"}) {
    const BuildResult result =
        Build(Kernel(absl::StrCat("asm(\".print \\\"", words, "\\\"\\n.err\");")));
    EXPECT_EQ(result.outcome, v1::OUTCOME_COMPILE_ERROR) << result.message;
  }
}

TEST_F(GxxToolchainTest, ADriverThatIsKilledIsNoVerdict) {
  // SIGTERM is what every process of a Slurm job gets when its node is taken back.
  for (const char* signal : {"KILL", "TERM", "INT", "HUP"}) {
    const std::string killed = absl::StrCat(ScratchFolder(), "/killed_g++_", signal);
    std::ofstream(killed) << "#!/bin/sh\ncase \"$*\" in *-shared*-o*) kill -" << signal
                          << " $$ ;; esac\nexec /usr/bin/g++ \"$@\"\n";
    std::filesystem::permissions(killed, std::filesystem::perms(0755));
    GxxToolchain::Options options;
    options.compiler_path = killed;
    options.work_dir = absl::StrCat(ScratchFolder(), "/build_", signal);
    options.sandbox_spec.binds.push_back({.host_path = killed, .inside_path = killed});
    const auto toolchain = GxxToolchain::Create(std::move(options), sandbox_.get());
    ASSERT_TRUE(toolchain.ok()) << toolchain.status();
    const auto result = (*toolchain)->Build(Kernel(""), {});
    EXPECT_EQ(result.status().code(), absl::StatusCode::kUnavailable)
        << signal << ": " << result.status();
  }
}

// Starts compilers, and nothing else.
class FullMachine final : public Sandbox {
 public:
  explicit FullMachine(Sandbox& sandbox) : sandbox_(sandbox) {}
  absl::StatusOr<std::unique_ptr<SandboxedProcess>> Launch(const SandboxSpec& spec) override {
    if (spec.argv[0] == "/usr/bin/true") return absl::ResourceExhaustedError("fork");
    return sandbox_.Launch(spec);
  }
  v1::IsolationLevel isolation() const override { return sandbox_.isolation(); }

 private:
  Sandbox& sandbox_;
};

TEST_F(GxxToolchainTest, AMachineThatCanStartNothingMoreIsNoVerdict) {
  const std::string driver = absl::StrCat(ScratchFolder(), "/driver_without_processes");
  std::ofstream(driver)
      << "#!/bin/sh\ncase \"$*\" in *-shared*-o*) echo \"g++: fatal error: cannot "
         "execute 'cc1plus': vfork: Resource temporarily unavailable\" >&2; exit 1 "
         ";; esac\nexec /usr/bin/g++ \"$@\"\n";
  std::filesystem::permissions(driver, std::filesystem::perms(0755));
  FullMachine full(*sandbox_);
  for (const bool is_full : {true, false}) {
    GxxToolchain::Options options;
    options.compiler_path = driver;
    options.work_dir = absl::StrCat(ScratchFolder(), "/build_full_", is_full);
    options.sandbox_spec.binds.push_back({.host_path = driver, .inside_path = driver});
    const auto toolchain = GxxToolchain::Create(
        std::move(options), is_full ? static_cast<Sandbox*>(&full) : sandbox_.get());
    ASSERT_TRUE(toolchain.ok()) << toolchain.status();
    const auto result = (*toolchain)->Build(Kernel(""), {});
    if (is_full) {
      EXPECT_EQ(result.status().code(), absl::StatusCode::kUnavailable) << result.status();
    } else {
      // Words alone are the sources'.
      ASSERT_TRUE(result.ok()) << result.status();
      EXPECT_EQ(result->outcome, v1::OUTCOME_COMPILE_ERROR);
    }
  }
}

TEST_F(GxxToolchainTest, AProgramLearnsNoTimeOfItsBuild) {
  const BuildResult result = Build(
      Kernel("extern \"C\" const char built[] = __DATE__ \", \" __TIME__ \", \" __TIMESTAMP__;"));
  ASSERT_EQ(result.outcome, v1::OUTCOME_PASSED) << result.message;
  const auto object = ReadFile(result.artifact_path, 16 << 20);
  ASSERT_TRUE(object.ok()) << object.status();
  EXPECT_THAT(*object, HasSubstr("Sep  9 2001, 01:46:40, Sun Sep  9 01:46:40 2001"));
}

TEST_F(GxxToolchainTest, BadPathsNeverReachTheCompiler) {
  const BuildResult result = Build(Request({{"../kernel.cpp", ""}}));
  EXPECT_EQ(result.outcome, v1::OUTCOME_INVALID_SOURCE);
  EXPECT_THAT(result.message, HasSubstr("../kernel.cpp"));
}

TEST_F(GxxToolchainTest, HostFilesCannotBeIncludedOrEmbedded) {
  const std::string secret = ScratchFolder() + "/secret.h";
  std::ofstream(secret) << "int hunter2;\n";
  for (const std::string& path : {std::string("/etc/shadow"), std::string("/etc/passwd"), secret}) {
    BuildResult result = Build(Kernel(absl::StrCat("#include \"", path, "\"")));
    EXPECT_EQ(result.outcome, v1::OUTCOME_COMPILE_ERROR) << path;
    EXPECT_THAT(result.report.log_excerpt(), HasSubstr("No such file")) << path;
    result = Build(Kernel(absl::StrCat("asm(\".incbin \\\"", path, "\\\"\");")));
    EXPECT_EQ(result.outcome, v1::OUTCOME_COMPILE_ERROR) << path;
  }
}

TEST_F(GxxToolchainTest, SourcesCannotBeChangedByTheCompilation) {
  // .incbin reads; the assembler cannot write. What a compiler writes goes to /out and /tmp only.
  BuildRequest request = Kernel("");
  request.sources.mutable_files(0)->set_content("#include \"/src/kernel.cpp\"\n");
  EXPECT_EQ(Build(request).outcome, v1::OUTCOME_COMPILE_ERROR);  // endless include, bounded
}

TEST_F(GxxToolchainTest, EndlessCompilationIsATimeout) {
  BuildRequest request = Kernel(
      "constexpr int f(long n) { long s = 0; for (long i = 0; i < n; ++i) s += i; return int(s); "
      "}\n"
      "template <long N> struct S { static constexpr int v = f(250000) + S<N - 1>::v; };\n"
      "template <> struct S<0> { static constexpr int v = 0; };\n"
      "int x = S<500>::v;");
  *request.limits.mutable_build_time() = ToProto(absl::Seconds(1));
  const BuildResult result = Build(request);
  EXPECT_EQ(result.outcome, v1::OUTCOME_COMPILE_TIMEOUT) << result.message;
  EXPECT_THAT(result.message, HasSubstr("1s"));
}

TEST_F(GxxToolchainTest, HugeObjectsAreALimit) {
  BuildRequest request = Kernel("char big[8 << 20] = {1};", "return big[0];");
  request.limits.set_artifact_bytes(1 << 20);
  const BuildResult result = Build(request);
  EXPECT_EQ(result.outcome, v1::OUTCOME_COMPILE_LIMIT) << result.message;
  EXPECT_EQ(result.artifact_path, "");
  request = Kernel("char big[200 << 20] = {1};", "return big[0];");
  request.limits.set_artifact_bytes(1 << 20);
  EXPECT_EQ(Build(request).outcome, v1::OUTCOME_COMPILE_LIMIT);
}

TEST_F(GxxToolchainTest, StopCancels) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(toolchain_->Build(Kernel(""), stop.get_token()).status().code(),
            absl::StatusCode::kCancelled);
}

TEST_F(GxxToolchainTest, ArtifactGoesWithTheLastHold) {
  BuildResult result = Build(Kernel(""));
  ASSERT_EQ(result.outcome, v1::OUTCOME_PASSED);
  const std::string path = result.artifact_path;
  EXPECT_TRUE(std::filesystem::exists(path));
  result.artifact_hold.reset();
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(GxxToolchainTest, MissingCompilerIsNamed) {
  GxxToolchain::Options options;
  options.compiler_path = "/no/such/g++";
  options.work_dir = ScratchFolder() + "/build";
  const auto made = GxxToolchain::Create(std::move(options), sandbox_.get());
  EXPECT_EQ(made.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(made.status().message()), HasSubstr("/no/such/g++"));
}

TEST_F(GxxToolchainTest, FactoryMakesACachedCppToolchainByDefault) {
  const auto made = MakeToolchains(v1::WorkerConfig(), ScratchFolder() + "/state", sandbox_.get());
  ASSERT_TRUE(made.ok()) << made.status();
  ASSERT_EQ(made->size(), 1u);
  const auto& builder = made->at(v1::LANGUAGE_CPP);
  EXPECT_FALSE(builder->Build(Kernel(""), {})->report.cached());
  const auto again = builder->Build(Kernel(""), {});
  EXPECT_TRUE(again->report.cached());
  EXPECT_TRUE(std::filesystem::exists(again->artifact_path));
}

TEST_F(GxxToolchainTest, FactoryNamesALanguageItCannotBuild) {
  v1::WorkerConfig config;
  config.add_toolchains()->set_language(v1::LANGUAGE_UNSPECIFIED);
  const auto made = MakeToolchains(config, ScratchFolder() + "/state", sandbox_.get());
  EXPECT_EQ(made.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(made.status().message()),
              HasSubstr("toolchains[0] (LANGUAGE_UNSPECIFIED)"));
}

}  // namespace
}  // namespace ksearch
