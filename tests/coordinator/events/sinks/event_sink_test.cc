#include "coordinator/events/sinks/event_sink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/rng.h"
#include "common/textproto.h"
#include "coordinator/events/sinks/sink_table.h"
#include "tests/coordinator/events/sinks/sample_runs.h"
#include "tests/fakes/eventually.h"

namespace ksearch::sinks {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

// Path -> content of every file below.
std::map<std::string, std::string> FilesBelow(const std::string& folder) {
  std::map<std::string, std::string> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, error)) {
    if (!entry.is_regular_file()) continue;
    files[entry.path().lexically_relative(folder)] =
        ReadFile(entry.path(), int64_t{64} << 20).value_or("unreadable");
  }
  return files;
}

class EventSinkTest : public testing::TestWithParam<std::string> {
 protected:
  EventSinkTest()
      : folder_(absl::StrCat(testing::TempDir(), "/sink_", ::getpid(), "_", GetParam())) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~EventSinkTest() override { std::filesystem::remove_all(folder_); }

  std::string Out() const { return folder_ + "/out"; }
  EventSink::Options Options(const std::string& out) const {
    EventSink::Options options;
    options.config.set_kind(GetParam());
    options.config.set_folder(out);
    options.config = WithDefaults(options.config, folder_);
    options.cursor_path = absl::StrCat(folder_, "/cursors/", GetParam());
    options.first_retry = absl::Milliseconds(20);
    options.save_interval = absl::Milliseconds(1);
    return options;
  }
  std::unique_ptr<EventSink> Start() {
    return std::make_unique<EventSink>(Options(Out()), &feed_, runs_.Reader(), Clock::Real());
  }
  // Returns true if the sink has written everything in the store so far.
  bool Follows(const EventSink& sink) {
    return Eventually([&] { return sink.Facts().cursor() == runs_.newest(); });
  }
  // The files that an undisturbed sink writes for the same events.
  std::map<std::string, std::string> Undisturbed() {
    EventSink::Options options = Options(folder_ + "/undisturbed");
    options.cursor_path += ".undisturbed";
    { EventSink sink(options, &feed_, runs_.Reader(), Clock::Real()); }
    return FilesBelow(folder_ + "/undisturbed");
  }

  const std::string folder_;
  EventFeed feed_;
  SampleRuns runs_{&feed_};
};

TEST_P(EventSinkTest, FollowsWhatHappensAndGoesOnWhereItWas) {
  {
    const auto sink = Start();
    runs_.AddSearch("a", 4, /*goes_on=*/true);
    EXPECT_TRUE(Follows(*sink));
    EXPECT_EQ(sink->Facts().fault(), "");
    runs_.AddSearch("b", 2);
  }
  const auto first = FilesBelow(Out());
  EXPECT_FALSE(first.empty());
  runs_.AddSearch("c", 2);
  v1::RunEvent more;
  more.set_kind(v1::RunEvent::RUN_ENDED);
  runs_.Add("a", more);
  { const auto sink = Start(); }
  const auto second = FilesBelow(Out());
  EXPECT_EQ(second, Undisturbed());
  for (const auto& [path, content] : first) {
    ASSERT_EQ(second.count(path), 1u) << path;
    EXPECT_EQ(second.at(path).substr(0, content.size()), content) << path << " only grew";
  }
  // Runs that had ended were not read again.
  const int reads = runs_.reads_of_events();
  { const auto sink = Start(); }
  EXPECT_EQ(runs_.reads_of_events(), reads);
}

TEST_P(EventSinkTest, CrashAtAnyByteLosesAndRepeatsNothing) {
  runs_.AddSearch("a", 5);
  runs_.AddSearch("b", 5);
  const auto whole = Undisturbed();
  Rng rng(17);
  for (int trial = 0; trial < 5; ++trial) {
    std::filesystem::remove_all(Out());
    std::filesystem::remove_all(folder_ + "/cursors");
    { const auto sink = Start(); }
    // As if the process had died before the cursor was saved, with a part of each log on disk.
    std::filesystem::remove(Options(Out()).cursor_path);
    for (const auto& [path, content] : FilesBelow(Out())) {
      if (path.find("/files/") != std::string::npos) continue;  // these appear whole
      std::filesystem::resize_file(Out() + "/" + path, rng.NextBelow(content.size() + 1));
    }
    { const auto sink = Start(); }
    ASSERT_EQ(FilesBelow(Out()), whole) << "trial " << trial;
  }
}

TEST_P(EventSinkTest, WhatIsNoneOfItsIsReplaced) {
  runs_.AddSearch("a", 5);
  const auto whole = Undisturbed();
  { const auto sink = Start(); }
  std::filesystem::remove(Options(Out()).cursor_path);
  const std::string path = Out() + "/" + whole.begin()->first;
  if (path.find("/files/") == std::string::npos) {
    std::ofstream(path, std::ios::trunc) << std::string(1 << 20, 'x');
  }
  { const auto sink = Start(); }
  EXPECT_EQ(FilesBelow(Out()), whole);
}

TEST_P(EventSinkTest, FolderThatCannotBeWrittenIsSaidAndTriedAgain) {
  std::ofstream(Out()) << "a file in the folder's place";
  const auto sink = Start();
  EXPECT_TRUE(Eventually([&] { return !sink->Facts().fault().empty(); }));
  EXPECT_THAT(sink->Facts().fault(), HasSubstr(Out()));
  runs_.AddSearch("a", 3);  // runs are not delayed
  EXPECT_EQ(sink->Facts().cursor(), 0);
  std::filesystem::remove(Out());
  EXPECT_TRUE(Follows(*sink));
  EXPECT_TRUE(Eventually([&] { return sink->Facts().fault().empty(); }));
  EXPECT_FALSE(FilesBelow(Out()).empty());
}

TEST_P(EventSinkTest, DiskThatFillsUpIsWrittenOnceThereIsRoom) {
  runs_.AddSearch("a", 3);
  const auto whole = Undisturbed();
  // Files may not grow beyond a few bytes: a write is cut short, the next one fails.
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit before;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit little = before;
  little.rlim_cur = 100;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &little), 0);
  const auto sink = Start();
  EXPECT_TRUE(Eventually([&] { return !sink->Facts().fault().empty(); }));
  EXPECT_THAT(sink->Facts().fault(), HasSubstr("File too large"));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_TRUE(Follows(*sink));
  EXPECT_EQ(FilesBelow(Out()), whole);
}

TEST_P(EventSinkTest, AnotherFolderBeginsAnewAndAnOlderStoreToo) {
  runs_.AddSearch("a", 3);
  { const auto sink = Start(); }
  EventSink::Options options = Options(folder_ + "/elsewhere");
  { const EventSink sink(options, &feed_, runs_.Reader(), Clock::Real()); }
  EXPECT_EQ(FilesBelow(folder_ + "/elsewhere"), FilesBelow(Out()));
  SampleRuns older(&feed_);
  older.AddSearch("a", 1);
  { const EventSink sink(options, &feed_, older.Reader(), Clock::Real()); }
  EXPECT_THAT(ReadFile(options.cursor_path, 4096).value_or(""),
              HasSubstr(absl::StrCat("\n", older.newest(), "\n")));
}

TEST_P(EventSinkTest, TextsAndNamesOfStrangersLeaveTheFolderAlone) {
  runs_.SetText("\"\n\xE2\x80\xA8</script>\x01 ../../../x");
  runs_.AddSearch("../../suite/task-1", 4);
  { const auto sink = Start(); }
  EXPECT_FALSE(FilesBelow(Out()).empty());
  for (const auto& [path, content] : FilesBelow(folder_)) {
    EXPECT_TRUE(path.rfind("out/", 0) == 0 || path.rfind("cursors/", 0) == 0) << path;
    EXPECT_THAT(path, Not(HasSubstr(".."))) << path;
    EXPECT_THAT(content, Not(HasSubstr("of the user alone"))) << path;
  }
}

INSTANTIATE_TEST_SUITE_P(All, EventSinkTest, testing::ValuesIn(SinkKinds()),
                         [](const auto& kind) { return kind.param; });

TEST(JsonlSinkTest, EveryEventIsALine) {
  EventFeed feed;
  SampleRuns runs(&feed);
  runs.SetText("two\nlines");
  runs.AddSearch("a", 3);
  const std::string folder = absl::StrCat(testing::TempDir(), "/jsonl_", ::getpid());
  std::filesystem::remove_all(folder);
  EventSink::Options options;
  options.config.set_kind("jsonl");
  options.config = WithDefaults(options.config, folder);
  options.cursor_path = folder + "/cursor";
  { EventSink sink(options, &feed, runs.Reader(), Clock::Real()); }
  const std::string text = ReadFile(folder + "/sinks/jsonl/a.jsonl", 1 << 20).value_or("");
  const std::vector<std::string> lines = absl::StrSplit(text, '\n', absl::SkipEmpty());
  EXPECT_THAT(lines, SizeIs(runs.newest()));
  EXPECT_THAT(lines.at(0), HasSubstr("\"run_id\":\"a\""));
  EXPECT_THAT(lines.at(0), HasSubstr("RUN_STARTED"));
  EXPECT_THAT(lines.at(0), HasSubstr("two\\nlines"));
  std::filesystem::remove_all(folder);
}

TEST(SinkTableTest, FaultsNameTheirFields) {
  v1::CoordinatorConfig config;
  const auto faults = [&config] { return std::string(CheckSinks(config.sinks()).message()); };
  config.add_sinks()->set_kind("wandb");
  config.add_sinks()->set_kind("jsonl");
  EXPECT_THAT(faults(), IsEmpty());
  config.add_sinks()->set_kind("wandb");
  EXPECT_THAT(faults(), HasSubstr("sinks[2].name 'wandb' is used twice"));
  config.mutable_sinks(2)->set_name("a/b");
  EXPECT_THAT(faults(), HasSubstr("sinks[2].name 'a/b' must be"));
  config.mutable_sinks(2)->set_kind("mlflow");
  EXPECT_THAT(faults(), HasSubstr("sinks[2].kind 'mlflow' must be one of jsonl, wandb, "));
  config.mutable_sinks(1)->set_project("p");
  EXPECT_THAT(faults(), HasSubstr("sinks[1]: project and entity do not apply to kind jsonl"));
}

}  // namespace
}  // namespace ksearch::sinks
