#include "gpu_worker/build/source_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ksearch {
namespace {

using testing::HasSubstr;

v1::Sources Files(std::initializer_list<std::pair<std::string, std::string>> files) {
  v1::Sources sources;
  sources.set_language(v1::LANGUAGE_CPP);
  for (const auto& [path, content] : files) {
    v1::SourceFile* file = sources.add_files();
    file->set_path(path);
    file->set_content(content);
  }
  return sources;
}

std::string Reason(const v1::Sources& sources, const v1::Limits& limits = v1::Limits()) {
  return std::string(CheckSources(sources, limits, CppSourceRules()).message());
}

TEST(SourceCheckTest, AcceptsAKernelWithHeadersInFolders) {
  const v1::Sources sources =
      Files({{"kernel.cpp", "int x;"}, {"detail/a-b_c.2.h", ""}, {"z.cc", ""}});
  EXPECT_EQ(Reason(sources), "");
  EXPECT_THAT(CompiledPaths(sources, CppSourceRules()), testing::ElementsAre("kernel.cpp", "z.cc"));
}

TEST(SourceCheckTest, RefusesPathsThatReachElsewhere) {
  for (const char* path :
       {"../kernel.cpp", "/etc/kernel.cpp", "a/../kernel.cpp", "a//kernel.cpp", "./kernel.cpp",
        "-o.cpp", ".hidden.cpp", "a/-x.cpp", "", "a b.cpp", "kernel.cpp\n", "k\xC3\xA9rnel.cpp"}) {
    EXPECT_NE(Reason(Files({{path, ""}})), "") << path;
  }
}

TEST(SourceCheckTest, RefusesTheGeneratedHeadersName) {
  EXPECT_THAT(Reason(Files({{"k.cpp", ""}, {"ksearch_task.h", ""}})), HasSubstr("reserved"));
}

TEST(SourceCheckTest, NamesWhatIsWrong) {
  EXPECT_THAT(Reason(v1::Sources()), HasSubstr("no source file"));
  EXPECT_THAT(Reason(Files({{"a.h", ""}})), HasSubstr(".cpp or .cc"));
  EXPECT_THAT(Reason(Files({{"k.cpp", ""}, {"k.cpp", ""}})), HasSubstr("twice"));
  EXPECT_THAT(Reason(Files({{"k.cpp", ""}, {"x.h", ""}, {"x.h/y.h", ""}})), HasSubstr("folder"));
  EXPECT_THAT(Reason(Files({{"k.cpp", ""}, {"run.sh", ""}})),
              HasSubstr("unknown ending in a program in cpp"));
  EXPECT_THAT(Reason(Files({{"my kérnel.cpp", ""}})), HasSubstr("file 'my kérnel.cpp': "));
  EXPECT_THAT(Reason(Files({{"k.cpp", std::string("a\0b", 3)}})), HasSubstr("NUL"));
}

TEST(SourceCheckTest, SizeIsOfAllFilesTogether) {
  v1::Limits limits;
  limits.set_source_bytes(10);
  EXPECT_EQ(Reason(Files({{"a.cpp", "12345"}, {"b.h", "12345"}}), limits), "");
  EXPECT_THAT(Reason(Files({{"a.cpp", "12345"}, {"b.h", "123456"}}), limits),
              HasSubstr("11 bytes; at most 10"));
}

}  // namespace
}  // namespace ksearch
