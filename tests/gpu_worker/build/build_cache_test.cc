#include "gpu_worker/build/build_cache.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <latch>
#include <thread>

#include "absl/strings/match.h"
#include "common/folder_digest.h"
#include "common/textproto.h"
#include "tests/fakes/fake_builder.h"

namespace ksearch {
namespace {

BuildRequest Request(const std::string& text) {
  BuildRequest request;
  request.sources.set_language(v1::LANGUAGE_CPP);
  v1::SourceFile* file = request.sources.add_files();
  file->set_path("kernel.cpp");
  file->set_content(text);
  request.kernel_header = "// header";
  return request;
}

class BuildCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "build_cache_test.XXXXXX";
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::unique_ptr<BuildCache> MakeCache(int64_t max_bytes = 1 << 20) {
    auto builder = std::make_unique<FakeBuilder>(folder_);
    builder_ = builder.get();
    return BuildCache::Create(std::move(builder), folder_ + "/cache", max_bytes).value();
  }
  int Entries() const {
    int count = 0;
    for ([[maybe_unused]] const auto& e : std::filesystem::directory_iterator(folder_ + "/cache")) {
      ++count;
    }
    return count;
  }

  std::string folder_;
  FakeBuilder* builder_ = nullptr;  // owned by the newest cache
};

TEST_F(BuildCacheTest, SecondBuildComesFromTheCache) {
  const auto cache = MakeCache();
  const auto first = cache->Build(Request("int a;"), {});
  const auto second = cache->Build(Request("int a;"), {});
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(builder_->builds(), 1);
  EXPECT_FALSE(first->report.cached());
  EXPECT_TRUE(second->report.cached());
  EXPECT_EQ(ReadFile(second->artifact_path, 100).value(), "int a;");
}

TEST_F(BuildCacheTest, SurvivesARestart) {
  ASSERT_TRUE(MakeCache()->Build(Request("int a;"), {}).ok());
  const auto cache = MakeCache();
  EXPECT_TRUE(cache->Build(Request("int a;"), {})->report.cached());
  EXPECT_EQ(builder_->builds(), 0);
}

TEST_F(BuildCacheTest, FailuresAreCachedButTimeoutsAreNot) {
  const auto cache = MakeCache();
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(cache->Build(Request("COMPILE_ERROR x"), {})->outcome, v1::OUTCOME_COMPILE_ERROR);
  }
  EXPECT_EQ(builder_->builds(), 1);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(cache->Build(Request("COMPILE_TIMEOUT x"), {})->outcome, v1::OUTCOME_COMPILE_TIMEOUT);
  }
  EXPECT_EQ(builder_->builds(), 3);
}

TEST_F(BuildCacheTest, TroubleOfTheWorkerIsNotCached) {
  const auto cache = MakeCache();
  EXPECT_FALSE(cache->Build(Request("BROKEN_WORKER"), {}).ok());
  EXPECT_FALSE(cache->Build(Request("BROKEN_WORKER"), {}).ok());
  EXPECT_EQ(builder_->builds(), 2);
}

TEST_F(BuildCacheTest, EverythingThatDecidesTheArtifactIsInTheKey) {
  auto cache = MakeCache();
  BuildRequest request = Request("int a;");
  ASSERT_TRUE(cache->Build(request, {}).ok());
  request.kernel_header = "// other";
  ASSERT_TRUE(cache->Build(request, {}).ok());
  request.limits.set_artifact_bytes(5);
  ASSERT_TRUE(cache->Build(request, {}).ok());
  EXPECT_EQ(builder_->builds(), 3);
  builder_->fingerprint_text = "fake 2";
  ASSERT_TRUE(cache->Build(request, {}).ok());
  EXPECT_EQ(builder_->builds(), 4);
}

TEST_F(BuildCacheTest, DamagedEntryIsBuiltAgain) {
  const auto cache = MakeCache();
  const std::string path = cache->Build(Request("int a;"), {})->artifact_path;
  std::ofstream(path) << "garbage";
  const auto again = cache->Build(Request("int a;"), {});
  EXPECT_EQ(builder_->builds(), 2);
  EXPECT_EQ(ReadFile(again->artifact_path, 100).value(), "int a;");
}

// A folder artifact with its own runner.
TEST_F(BuildCacheTest, FoldersComeBackWithWhatLoadsThem) {
  const std::string text = "FOLDER import torch";
  const auto first = MakeCache()->Build(Request(text), {});
  ASSERT_TRUE(first.ok()) << first.status();
  const auto cache = MakeCache();
  const auto again = cache->Build(Request(text), {});
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(builder_->builds(), 0);
  EXPECT_TRUE(again->report.cached());
  for (const BuildResult& built : {*first, *again}) {
    EXPECT_TRUE(absl::StartsWith(built.artifact_path, folder_ + "/cache/")) << built.artifact_path;
    EXPECT_EQ(FolderSha256(built.artifact_path, 1 << 20).value(), built.report.artifact_sha256());
    EXPECT_EQ(ReadFile(built.artifact_path + "/deep/main.py", 100).value(), text);
    EXPECT_EQ(built.loading.main_file(), "deep/main.py");
    EXPECT_EQ(built.loading.runner().argv(0), "/bin/interpreter");
    EXPECT_EQ(built.loading.load_time().seconds(), 7);
  }
}

TEST_F(BuildCacheTest, AFolderThatIsDamagedInAnyWayIsBuiltAgain) {
  const std::string text = "FOLDER import torch";
  const std::vector<std::function<void(const std::string&)>> damages = {
      [](const std::string& program) { std::ofstream(program + "/deep/main.py") << "other"; },
      [](const std::string& program) { std::ofstream(program + "/more.py") << "more"; },
      [](const std::string& program) { std::filesystem::remove(program + "/deep/main.py"); },
      [](const std::string& program) { std::filesystem::create_symlink("/etc", program + "/etc"); },
      [](const std::string& program) { std::filesystem::remove_all(program); },
      [](const std::string& program) { std::filesystem::remove(program + "/../loading.pb"); },
      [](const std::string& program) { std::ofstream(program + "/../loading.pb") << "garbage"; },
      [](const std::string& program) { std::ofstream(program + "/../loading.pb").flush(); },
  };
  const auto cache = MakeCache();
  for (size_t i = 0; i < damages.size(); ++i) {
    SCOPED_TRACE(i);
    const std::string program = cache->Build(Request(text), {})->artifact_path;
    const int builds = builder_->builds();
    damages[i](program);
    const auto again = cache->Build(Request(text), {});
    EXPECT_EQ(builder_->builds(), builds + 1);
    EXPECT_EQ(ReadFile(again->artifact_path + "/deep/main.py", 100).value(), text);
    EXPECT_EQ(again->loading.main_file(), "deep/main.py");
  }
}

TEST_F(BuildCacheTest, EqualRequestsAtTheSameTimeAreBuiltOnce) {
  const auto cache = MakeCache();
  std::promise<void> release;
  std::shared_future<void> released = release.get_future().share();
  builder_->during_build = [released](std::stop_token) { released.wait(); };
  std::vector<std::future<absl::StatusOr<BuildResult>>> builds;
  std::latch started(4);
  for (int i = 0; i < 4; ++i) {
    builds.push_back(std::async(std::launch::async, [&] {
      started.count_down();
      return cache->Build(Request("int a;"), {});
    }));
  }
  started.wait();
  release.set_value();
  for (auto& build : builds) {
    const auto result = build.get();
    ASSERT_TRUE(result.ok());
    EXPECT_EQ(result->outcome, v1::OUTCOME_PASSED);
  }
  EXPECT_EQ(builder_->builds(), 1);
}

TEST_F(BuildCacheTest, ACancelledBuilderDoesNotCancelThoseWhoWait) {
  const auto cache = MakeCache();
  std::latch building(1);
  std::atomic<int> calls{0};
  builder_->during_build = [&](std::stop_token stop) {
    if (calls++ > 0) return;
    building.count_down();
    while (!stop.stop_requested()) std::this_thread::yield();
  };
  std::stop_source stop;
  auto first = std::async(std::launch::async,
                          [&] { return cache->Build(Request("int a;"), stop.get_token()); });
  building.wait();
  auto second = std::async(std::launch::async, [&] { return cache->Build(Request("int a;"), {}); });
  stop.request_stop();
  EXPECT_EQ(first.get().status().code(), absl::StatusCode::kCancelled);
  EXPECT_TRUE(second.get().ok());
}

TEST_F(BuildCacheTest, OldestUnusedEntryGoesFirst) {
  const auto cache = MakeCache(/*max_bytes=*/2600);
  const std::string text(1000, 'x');
  ASSERT_TRUE(cache->Build(Request(text + "1"), {}).ok());
  ASSERT_TRUE(cache->Build(Request(text + "2"), {}).ok());
  ASSERT_TRUE(cache->Build(Request(text + "1"), {})->report.cached());
  ASSERT_TRUE(cache->Build(Request(text + "3"), {}).ok());
  ASSERT_TRUE(cache->Build(Request("COMPILE_ERROR so that the dropping is done"), {}).ok());
  EXPECT_TRUE(cache->Build(Request(text + "1"), {})->report.cached());
  EXPECT_FALSE(cache->Build(Request(text + "2"), {})->report.cached());
}

TEST_F(BuildCacheTest, HeldArtifactsStay) {
  const auto cache = MakeCache(/*max_bytes=*/1);
  auto held = cache->Build(Request("int a;"), {});
  ASSERT_TRUE(cache->Build(Request("int b;"), {}).ok());
  EXPECT_TRUE(std::filesystem::exists(held->artifact_path));
  const std::string path = held->artifact_path;
  held = absl::CancelledError("let go");
  ASSERT_TRUE(cache->Build(Request("COMPILE_ERROR"), {}).ok());
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(BuildCacheTest, TwoProcessesMayShareAFolder) {
  const auto first = MakeCache();
  const auto second = MakeCache();
  ASSERT_TRUE(first->Build(Request("int a;"), {}).ok());
  EXPECT_TRUE(second->Build(Request("int a;"), {})->report.cached());
  EXPECT_EQ(Entries(), 1);
}

}  // namespace
}  // namespace ksearch
