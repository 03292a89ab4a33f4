#include "gpu_worker/build/marks/source_marks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/textproto.h"
#include "gpu_worker/build/marks/code_words.h"

namespace ksearch {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

std::vector<std::string> Marks(const std::string& text, v1::Language language = v1::LANGUAGE_CUDA) {
  v1::Sources sources;
  sources.set_language(language);
  sources.add_files()->set_path("kernel.cu");
  sources.mutable_files(0)->set_content(text);
  return SourceMarks(sources, v1::BuildReport());
}

TEST(CodeWordsTest, CommentsAndNumbersAreNoWords) {
  std::string words;
  for (const CodeWord& word :
       CodeWords("a /* b \n */ c // d \\\n e\nf 1'000u 'g' \"h\\\"i\" \"j\"\n"
                 "R\"x(k)\" l)x\" u8\"m\" n\\\no .")) {
    absl::StrAppend(&words, word.word, word.kind == CodeWord::Kind::kText ? "\"" : "", "@",
                    word.line, " ");
  }
  EXPECT_EQ(words, "a@1 c@2 f@4 h\\\"ij\"@4 k)\" l\"@5 u8@5 m\"@5 no@5 .@6 ");
  for (const char* broken : {"\"", "'", "/*", "R\"", "R\"(", "\\", "'\\", "\"\\"})
    CodeWords(broken);
}

TEST(SourceMarksTest, EachKindNamesItsFirstPlace) {
  EXPECT_THAT(Marks("int f() {\n  return fopen(\"x\", \"r\") != 0 || open(p, 0) > 0;\n}"),
              ElementsAre("source: opens files: fopen at kernel.cu:2"));
  EXPECT_THAT(Marks("void f() { std::thread(g).detach(); if (fork() == 0) return; }"),
              ElementsAre("source: starts processes: fork at kernel.cu:1",
                          "source: starts threads: thread at kernel.cu:1"));
  EXPECT_THAT(Marks("const char* p = \"/pr\" \"oc/self\";"),
              ElementsAre("source: looks at the machine: /proc at kernel.cu:1"));
  EXPECT_THAT(
      Marks("extern \"C\" int clock_gettime(clockid_t, timespec* t) noexcept { return 0; }"),
      ElementsAre(StartsWith("source: stands in for functions of others: clock_gettime")));
  EXPECT_THAT(
      Marks("extern \"C\" {\nint cuEventElapsedTime(float* m, void*, void*) { return 0; }\n}"),
      ElementsAre(StartsWith("source: stands in for functions of others: cuEventEl")));
  EXPECT_THAT(Marks("__attribute__((constructor)) static void Early() {}"),
              ElementsAre(StartsWith("source: runs while it is loaded")));
  EXPECT_THAT(Marks("asm volatile(\"syscall\");"), ElementsAre(StartsWith("source: traces")));
  EXPECT_THAT(Marks("cudaStreamCreate(&own);\nk<<<1, 1, 0, own>>>();"),
              ElementsAre("source: works on a stream that it never joins: cudaStreamCreate at "
                          "kernel.cu:1"));
}

TEST(SourceMarksTest, BulkStoresMustBeAwaited) {
  const auto unawaited = ElementsAre(StartsWith("source: never waits for its copies: "));
  for (const char* store :
       {"asm volatile(\"cp.async.bulk.global.shared::cta\"\n\".bulk_group [%0], [%1], %2;\");",
        "asm(\"cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.tile.bulk_group [%0], "
        "[%1];\");",
        "asm(\"cp.async.bulk.commit_group;\");", "ks::bulk_store(y, row, 64); ks::bulk_commit();",
        "ks::tma_store_2d(&map, x, y, row);", "using namespace ks;\nbulk_commit();",
        "cuda::ptx::cp_async_bulk_commit_group();"}) {
    EXPECT_THAT(Marks(store), unawaited) << store;
    for (const char* wait : {"asm(\"cp.async.bulk.wait_group.read 0;\");", "ks::bulk_wait<0>();",
                             "bulk_wait_read<1>();",
                             "cuda::ptx::cp_async_bulk_wait_group_read(cuda::ptx::n32_t<0>());",
                             "cute::tma_store_wait<0>();"}) {
      EXPECT_THAT(Marks(absl::StrCat(store, "\n", wait)), IsEmpty()) << store << wait;
    }
  }
  // Loads complete at a barrier; a function of one's own may have such a name.
  EXPECT_THAT(Marks("asm(\"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes\");"
                    "ks::bulk_load(a, b, 64, c); bulk_store(y, row);"),
              IsEmpty());
}

TEST(SourceMarksTest, AsynchronousLoadsMustBeAwaited) {
  for (const char* load : {"asm volatile(\"cp.async.cg.shared.global [%0], [%1], 16;\");",
                           "ks::cp_async_commit();", "__pipeline_memcpy_async(to, from, 16);"}) {
    EXPECT_THAT(Marks(load), ElementsAre(StartsWith("source: never waits for its copies: ")))
        << load;
    for (const char* wait : {"asm(\"cp.async.wait_all;\");", "asm(\"cp.async.wait_group 1;\");",
                             "ks::cp_async_wait<0>();", "__pipeline_wait_prior(0);",
                             "asm(\"cp.async.mbarrier.arrive.noinc.shared.b64 [%0];\");"}) {
      EXPECT_THAT(Marks(absl::StrCat(load, "\n", wait)), IsEmpty()) << load << wait;
    }
    // That is another kind's.
    EXPECT_THAT(Marks(absl::StrCat(load, "\nasm(\"cp.async.bulk.wait_group 0;\");")),
                ElementsAre(StartsWith("source: never waits for its copies: ")));
  }
}

TEST(SourceMarksTest, TheGlobalNamespaceAfterAStatementsWord) {
  for (const char* text :
       {"int f() { return ::open(\"x\", 0); }", "void f() { if (a) b(); else ::open(c, 0); }",
        "auto f() { co_return ::fopen(a, b); }"}) {
    EXPECT_THAT(Marks(text), ElementsAre(StartsWith("source: opens files"))) << text;
  }
  EXPECT_THAT(Marks("int f() { return pipe::open(x) + p::q::open(3); }"), IsEmpty());
}

TEST(SourceMarksTest, NamesThatAreNotCalledDirectly) {
  for (const char* text : {
           "auto* look = &dlsym;\nvoid* f() { return look(h, n); }",
           "#define LOOK dlsym\nvoid* f() { return LOOK(h, n); }",
           "void* f() { return (dlsym)(h, n); }",
           "extern \"C\" void* look(void*, const char*) __asm__(\"dlsym\");",
           "extern \"C\" void* look(void*, const char*) asm (\"dl\" \"sym\") noexcept;",
           "asm volatile(\"call dlsym@plt\" : : : \"memory\");",
           "asm(\".symver look,dlsym@GLIBC_2.34\");",
           "auto* get = &cuGetProcAddress_v2;",
       }) {
    EXPECT_THAT(Marks(text), ElementsAre(StartsWith("source: looks up functions"))) << text;
    EXPECT_THAT(Marks(text, v1::LANGUAGE_CPP), ElementsAre(StartsWith("source: looks up"))) << text;
  }
  EXPECT_THAT(Marks("extern \"C\" int change(void*, size_t, int) __asm__(\"mprotect\");"),
              ElementsAre(StartsWith("source: changes the memory of its process: mprotect")));
  EXPECT_THAT(Marks("extern \"C\" int begin() __asm__(\"fork\");", v1::LANGUAGE_CPP),
              ElementsAre(StartsWith("source: starts processes: fork")));
  for (const char* text : {"extern \"C\" int mine(float*, void*) __asm__(\"cuEventElapsedTime\");",
                           "extern \"C\" int mine(int, timespec*) asm(\"clock_gettime\");"}) {
    EXPECT_THAT(Marks(text), ElementsAre(StartsWith("source: stands in for functions of others")))
        << text;
  }
  for (const char* text : {
           "asm volatile(\"mov.u64 %0, %%globaltimer;\" : \"=l\"(t));",
           "asm volatile(\"rdtsc\" : \"=a\"(low), \"=d\"(high));",
           "asm volatile(\"ld.global.nc.L1::no_allocate.v4.u32 {%0,%1,%2,%3}, [%4];\");",
           "asm(\"{ .reg .pred open; setp.ne.b32 %open, %0, 0; @%open bra.uni DONE; DONE: }\");",
       }) {
    EXPECT_THAT(Marks(text), IsEmpty()) << text;
  }
}

TEST(SourceMarksTest, HonestUsesOfTheSameWords) {
  EXPECT_THAT(Marks("// fopen(\"/proc\")\n/* fork() */ const char* s = \"fopen(x)\";"), IsEmpty());
  EXPECT_THAT(
      Marks("__device__ void signal(int* f) { *f = 1; }\n"
            "__global__ void k(int* f) { signal(f); pipe.open(f); q->kill(3); x::raise(); }"),
      IsEmpty());
  EXPECT_THAT(Marks("static __device__ float clock(int x) { return x; }\nint thread = 3;"),
              IsEmpty());
  EXPECT_THAT(Marks("#include <fstream>\n#include <thread>\nint x;"), IsEmpty());
  EXPECT_THAT(Marks("cudaStreamCreate(&own);\ncudaStreamWaitEvent(own, begin, 0);"), IsEmpty());
  EXPECT_THAT(Marks("asm volatile(\"ld.global.L2::evict_last.b32 %0, [%1];\" : : );"), IsEmpty());
  EXPECT_THAT(
      Marks("cudaGetDriverEntryPointByVersion(\"cuTensorMapEncodeTiled\", &f, 12000, 0, &q);"),
      IsEmpty());
}

// Pools of threads fork and join.
TEST(SourceMarksTest, OwnFunctionsMayBeCalledFork) {
  EXPECT_THAT(Marks("namespace pool {\ntemplate <class F> static void fork(F f) { f(); }\n"
                    "void run() { fork([] {}); }\n}",
                    v1::LANGUAGE_CPP),
              IsEmpty());
  EXPECT_THAT(
      Marks("extern \"C\" int fork() { return 0; }\nint f() { return fork(); }", v1::LANGUAGE_CPP),
      ElementsAre(StartsWith("source: starts processes: fork")));
}

// Nothing else can be bound to such a function.
TEST(SourceMarksTest, OwnFunctionsOfOneFileMayHaveAnyName) {
  EXPECT_THAT(Marks("extern \"C\" {\nstatic void write(float* y, float v) { *y = v; }\n"
                    "static inline float read(const float* x) { return *x; }\n}",
                    v1::LANGUAGE_CPP),
              IsEmpty());
  for (const char* text : {"extern \"C\" {\nstatic int n;\nvoid write(int, int) {}\n}",
                           "#define static\nextern \"C\" {\nstatic void write(int, int) {}\n}"}) {
    EXPECT_THAT(Marks(text, v1::LANGUAGE_CPP),
                ElementsAre(StartsWith("source: stands in for functions of others: write")));
  }
}

TEST(SourceMarksTest, PathsBeginAtTheRoot) {
  EXPECT_THAT(Marks("static_assert(sizeof(x) == 4, \"a sum/root, see notes/dev/sums\");"),
              IsEmpty());
  for (const char* text :
       {"f(\"/proc/self\");", "f(\"..//proc\");", "f(\"a/../proc and a/../../proc\");",
        "f(\"x\\n/proc\");", "f(\"sum/root and /root\");"}) {
    EXPECT_THAT(Marks(text), ElementsAre(StartsWith("source: looks at the machine"))) << text;
  }
}

TEST(SourceMarksTest, ThreadsByAnyNameOfStd) {
  const auto threads = ElementsAre(StartsWith("source: starts threads: "));
  for (const char* text : {
           "using namespace std;\nvoid f() { thread t(g); t.detach(); }",
           "using namespace ::std;\nvoid f() { thread(g).detach(); }",
           "void f() { using namespace std; thread{g}.detach(); }",
           "using namespace std; void f() { static vector<thread> all; }",
           "using namespace std; void f() { auto* t = new thread(g); }",
           "using namespace std; void f() { jthread t(g); }",
           "using namespace std; void f() { auto later = async(g); }",
           "using namespace std; auto f() { return async(g); }",
           "using namespace std; void f(int n) { switch (n) { case 1: thread(g).detach(); } }",
           "using namespace std; class Worker { private: thread t_; };",
           "using std::thread;\nvoid f() { thread t(g); }",
           "using std::async;",
           "using std::jthread;",
           "namespace s = std; void f() { s::thread t(g); }",
           "namespace s = ::std; using namespace s; void f() { thread t(g); }",
           "void f() { ::std::thread t(g); }",
       }) {
    EXPECT_THAT(Marks(text), threads) << text;
    EXPECT_THAT(Marks(text, v1::LANGUAGE_CPP), IsEmpty()) << text;
  }
  for (const char* text : {
           "// using namespace std;\nstruct thread { int x; }; thread t(3);",
           "using namespace std; // thread t(g);\n/* async(g) */ const char* s = \"thread t(g)\";",
           "using namespace std; __global__ void k() { int thread = threadIdx.x; f(thread); }",
           "using namespace std; __global__ void k(int n) { for (int thread(0); thread < n;) ; }",
           "using namespace std; void f(bool async) { if (async) g(x.async(1), q->async(2)); }",
           "using namespace std; int n = thread::hardware_concurrency(); int m = my::thread(3);",
           "using namespace metal; void f() { thread t(g); async(h); }",
       }) {
    EXPECT_THAT(Marks(text), IsEmpty()) << text;
  }
  v1::Sources sources;
  sources.set_language(v1::LANGUAGE_CUDA);
  for (const char* text : {"void f() { thread t(g); }", "using namespace std;"}) {
    sources.add_files()->set_path(absl::StrCat("part", sources.files_size(), ".cu"));
    sources.mutable_files()->rbegin()->set_content(text);
  }
  EXPECT_THAT(SourceMarks(sources, v1::BuildReport()),
              ElementsAre("source: starts threads: thread at part1.cu:1"));
}

// A source that a Python program compiles is read like a program in its language.
TEST(SourceMarksTest, FilesBesideAProgramInPython) {
  v1::Sources sources;
  sources.set_language(v1::LANGUAGE_PYTHON);
  const auto add = [&](const std::string& path, const std::string& text) {
    sources.add_files()->set_path(path);
    sources.mutable_files()->rbegin()->set_content(text);
  };
  add("kernel.py", "fopen(1)");  // the Python toolchain parses it
  add("notes.txt", "fopen(1)");
  add("part/main.cpp", "void f() { auto* file = fopen(\"a\", \"r\"); std::thread t(g); }");
  v1::BuildReport report;
  v1::Diagnostic& diagnostic = *report.add_diagnostics();
  diagnostic.set_file("kernel.py");
  diagnostic.set_line(3);
  diagnostic.set_message("source: runs text as code: eval");
  EXPECT_THAT(SourceMarks(sources, report),
              ElementsAre("source: opens files: fopen at part/main.cpp:1",
                          "source: runs text as code: eval at kernel.py:3"));
  add("part/kernel.cu", "__global__ void k() {}");
  EXPECT_THAT(SourceMarks(sources, report), testing::SizeIs(3));  // threads, too
}

TEST(SourceMarksTest, ContextsOfItsOwn) {
  for (const char* text : {
           "int f() { return cuCtxCreate(&context, 0, 0); }",
           "int f() { return cuCtxCreate_v2(&context, 0, 0); }",
           "int f() { return cuCtxCreate_v4(&context, nullptr, 0, 0); }",
           "int f() { return cuDevicePrimaryCtxRetain(&context, 0); }",
           "auto* set = &cuCtxSetCurrent;",
           "int f() { return cuCtxPushCurrent_v2(context); }",
           "int f() { return cuGreenCtxCreate(&green, desc, 0, 0); }",
           "int f() { return cuCtxAttach(&context, 0); }",
           "void f() { cudaGetDriverEntryPoint(\"cuCtxCreate\", &p, 0, nullptr); }",
           "void f() { cudaGetDriverEntryPointByVersion(\"cuCtx\" \"SetCurrent\", &p, 0, 0, 0); }",
           "const char* names[] = {R\"(cuGreenCtxCreate)\"};",
       }) {
    EXPECT_THAT(Marks(text), ElementsAre(StartsWith("source: makes a context of its own: cu")))
        << text;
    EXPECT_THAT(Marks(text, v1::LANGUAGE_CPP), IsEmpty()) << text;
  }
  EXPECT_THAT(
      Marks("PFN_cuCtxCreate_v3020 create;"),
      ElementsAre("source: makes a context of its own: PFN_cuCtxCreate_v3020 at kernel.cu:1"));
  for (const char* text : {
           "// cuCtxCreate(&context, 0, 0)\n/* \"cuCtxSetCurrent\" */ int x;",
           "int f() { return cuCtxGetCurrent(&context) + cuCtxSynchronize(); }",
           "int f() { return open_v2(3) + PFN_fork(); }",
           "int cuCtxCreate_version, cuCtxCreateFlags_v2, PFN_, _v2, v2;",
       }) {
    EXPECT_THAT(Marks(text), IsEmpty()) << text;
  }
}

TEST(SourceMarksTest, ProgramsForProcessorsHaveTheirThreadsAndMappings) {
  EXPECT_THAT(Marks("std::thread t(f); void* p = mmap(0, 1, 3, 34, -1, 0);", v1::LANGUAGE_CPP),
              IsEmpty());
  EXPECT_THAT(Marks("int f() { return open(\"x\", 0); }", v1::LANGUAGE_CPP),
              ElementsAre(StartsWith("source: opens files: open")));
}

TEST(SourceMarksTest, SystemCallsOfThreadsAndTilesOnProcessors) {
  for (const char* text : {
           "long f() { return syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 1, nullptr, 0, 0); }",
           "bool f() { return ::syscall(__NR_arch_prctl, ARCH_REQ_XCOMP_PERM, 18) == 0; }",
           "bool f() { return syscall(SYS_gettid) + syscall(SYS_getcpu, &one, &two, nullptr); }",
       }) {
    EXPECT_THAT(Marks(text, v1::LANGUAGE_CPP), IsEmpty()) << text;
    EXPECT_THAT(Marks(text), ElementsAre(StartsWith("source: traces"))) << text;
  }
  for (const char* text : {
           "long f() { return syscall(SYS_futex + 1, &word, 3); }",
           "long f() { return syscall(number, SYS_futex, 3); }",
           "long f() { return syscall(SYS_kill, 1, 9); }",
           "#define SYS_futex SYS_kill\nlong f() { return syscall(SYS_futex, 1, 9); }",
       }) {
    EXPECT_THAT(Marks(text, v1::LANGUAGE_CPP), ElementsAre(StartsWith("source: traces"))) << text;
  }
}

TEST(SourceMarksTest, ThoseOfPythonAreWarningsOfTheBuild) {
  v1::Sources sources;
  sources.set_language(v1::LANGUAGE_PYTHON);
  v1::BuildReport report;
  const auto warn = [&report](const std::string& file, const std::string& message) {
    v1::Diagnostic& warning = *report.add_diagnostics();
    warning.set_file(file);
    warning.set_line(3);
    warning.set_severity("warning");
    warning.set_message(message);
  };
  warn("kernel.py", "source: opens files: open");
  warn("kernel.py", "invalid escape sequence");
  warn("parts.py", "source: opens files: os.open");
  warn("parts.py", "source: looks up functions of other libraries: ctypes");
  EXPECT_THAT(SourceMarks(sources, report),
              ElementsAre("source: looks up functions of other libraries: ctypes at parts.py:3",
                          "source: opens files: open at kernel.py:3"));
}

class RepositoryTest : public testing::Test {
 protected:
  void SetUp() override {
    const char* source = std::getenv("KSEARCH_SOURCE_DIR");
    if (source == nullptr) GTEST_SKIP() << "KSEARCH_SOURCE_DIR is not set";
    root_ = source;
  }
  // Reads the file and the headers of its folder, as tests/gpu/corpus.py sends them.
  static std::vector<std::string> MarksOf(const fs::path& path) {
    v1::Sources sources;
    sources.set_language(path.extension() == ".cu" ? v1::LANGUAGE_CUDA : v1::LANGUAGE_CPP);
    const auto add = [&sources](const fs::path& file) {
      v1::SourceFile& one = *sources.add_files();
      one.set_path(file.filename());
      one.set_content(ReadFile(file.string(), 1 << 20).value());
    };
    add(path);
    for (const auto& entry : fs::directory_iterator(path.parent_path())) {
      const bool header = entry.path().extension() == ".cuh" || entry.path().extension() == ".h";
      if (header &&
          absl::StrContains(sources.files(0).content(), entry.path().filename().string())) {
        add(entry.path());
      }
    }
    return SourceMarks(sources, v1::BuildReport());
  }
  fs::path root_;
};

TEST_F(RepositoryTest, NoHonestProgramIsMarked) {
  int programs = 0;
  const auto expect_none = [&programs](const fs::path& path) {
    ++programs;
    EXPECT_THAT(MarksOf(path), IsEmpty()) << path;
  };
  for (const auto& entry : fs::directory_iterator(root_ / "tests/bad_candidates/cuda")) {
    const std::string name = entry.path().filename();
    if (absl::StartsWith(name, "honest_") && entry.path().extension() == ".cu") {
      expect_none(entry.path());
    }
  }
  for (const auto& entry : fs::recursive_directory_iterator(root_ / "tests/bad_candidates")) {
    const std::string name = entry.path().lexically_relative(root_ / "tests/bad_candidates");
    if (absl::StartsWith(name, "honest") && entry.path().extension() == ".cpp") {
      expect_none(entry.path());
    }
  }
  for (const auto& entry : fs::recursive_directory_iterator(root_ / "configs/tasks")) {
    if (entry.path().extension() == ".cu" || entry.path().extension() == ".cpp") {
      expect_none(entry.path());
    }
  }
  EXPECT_GE(programs, 30);
  // Recorded replies are prose with programs in them, and must not have marks either.
  for (const auto& entry : fs::directory_iterator(root_ / "configs/demo")) {
    if (!absl::StrContains(entry.path().filename().string(), "cassette")) continue;
    v1::Sources sources;
    sources.set_language(v1::LANGUAGE_CUDA);
    sources.add_files()->set_path(entry.path().filename());
    std::string text = ReadFile(entry.path().string(), 8 << 20).value();
    sources.mutable_files(0)->set_content(text);
    if (!absl::StrContains(text, "cuda")) sources.set_language(v1::LANGUAGE_CPP);
    EXPECT_THAT(SourceMarks(sources, v1::BuildReport()), IsEmpty()) << entry.path();
  }
}

TEST_F(RepositoryTest, TheCorpusSaysWhoIsMarked) {
  const std::string table =
      ReadFile((root_ / "tests/bad_candidates/cuda/corpus.txt").string(), 1 << 20).value();
  int labeled = 0;
  for (const absl::string_view line : absl::StrSplit(table, '\n')) {
    const std::vector<std::string> fields = absl::StrSplit(line, ' ', absl::SkipEmpty());
    if (fields.size() < 4 || fields[0] == "#") continue;
    const std::vector<std::string> outcomes = absl::StrSplit(fields[2], '|');
    const std::set<std::string> expected(outcomes.begin(), outcomes.end());
    const auto marks =
        MarksOf(root_ / "tests/bad_candidates/cuda" / absl::StrCat(fields[0], ".cu"));
    // A program that passes is either marked or has nothing that could be marked.
    if (expected.count("LABELLED") > 0) {
      ++labeled;
      EXPECT_FALSE(marks.empty()) << fields[0];
    }
    if (expected.count("HARMLESS") > 0) {
      EXPECT_THAT(marks, IsEmpty()) << fields[0] << " passes: LABELLED";
    }
  }
  EXPECT_GE(labeled, 8);
  EXPECT_THAT(MarksOf(root_ / "tests/bad_candidates/cuda/second_context.cu"),
              Contains(StartsWith("source: makes a context of its own: cuCtxCreate at second_")));
}

}  // namespace
}  // namespace ksearch
