#include "tests/coordinator/events/sinks/sample_runs.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/digest.h"
#include "common/textproto.h"

namespace ksearch::sinks {
namespace {

const absl::Time kBegin = absl::FromUnixSeconds(1'790'000'000);

void FillCall(const std::string& run_id, int number, v1::RunEvent* event) {
  v1::CallDetail* const call = event->mutable_call();
  call->set_call_id(absl::StrCat(run_id, "/", number));
  call->set_model("scripted");
  call->set_input_tokens(1000);
  call->set_output_tokens(200);
  call->set_nano_usd(2'500'000);
}

}  // namespace

std::string SampleId(const std::string& name) { return Sha256Hex(name); }

v1::RunConfig SampleConfig() {
  v1::RunConfig config;
  config.set_task("softmax_rows_f32");
  config.set_language(v1::LANGUAGE_CPP);
  config.set_strategy("world_model");
  config.set_provider("local");
  config.set_model("scripted");
  config.set_rounds(20);
  config.mutable_budget()->set_usd("5");
  // None of this may reach a sink.
  v1::SourceFile* const seed = config.add_seed_solution();
  seed->set_path("kernel.cpp");
  seed->set_content("// of the user alone");
  return config;
}

void SampleRuns::Add(const std::string& run_id, v1::RunEvent event) {
  v1::FeedEntry entry;
  {
    MutexLock lock(&mu_);
    std::vector<v1::RunEvent>& events = events_[run_id];
    event.set_seq(static_cast<int64_t>(events.size()) + 1);
    *event.mutable_at() = ToProto(kBegin + absl::Milliseconds(1500) * entries_.size());
    event.set_text(text_);
    events.push_back(event);
    entry.set_cursor(static_cast<int64_t>(entries_.size()) + 1);
    entry.mutable_run()->set_run_id(run_id);
    *entry.mutable_run()->mutable_event() = std::move(event);
    entries_.push_back(entry);
  }
  feed_->Publish({entry});
}

void SampleRuns::AddSearch(const std::string& run_id, int rounds, bool goes_on) {
  v1::RunEvent started;
  started.set_kind(v1::RunEvent::RUN_STARTED);
  started.mutable_run()->set_rounds_total(rounds);
  Add(run_id, started);
  int passed = 0;
  for (int round = 1; round <= rounds; ++round) {
    v1::RunEvent judged;
    const bool fails = round % 3 == 0;
    judged.set_kind(fails ? v1::RunEvent::CANDIDATE_FAILED : v1::RunEvent::CANDIDATE_PASSED);
    judged.set_round(round);
    judged.set_candidate_id(SampleId(absl::StrCat(run_id, round)));
    judged.set_node_id(text_);
    FillCall(run_id, round, &judged);
    v1::CandidateDetail* const detail = judged.mutable_candidate();
    detail->set_outcome(fails ? v1::OUTCOME_INCORRECT : v1::OUTCOME_PASSED);
    *detail->mutable_device_time() = ToProto(absl::Milliseconds(250));
    if (!fails) {
      detail->set_speedup(1.0 + 0.5 * round);
      detail->set_latency_us(100.0 / round);
    }
    Add(run_id, judged);
    if (fails || ++passed > 2) continue;
    v1::RunEvent confirmed;
    confirmed.set_kind(v1::RunEvent::NEW_INCUMBENT);
    confirmed.set_round(round);
    confirmed.set_candidate_id(judged.candidate_id());
    FillCall(run_id, round, &confirmed);
    v1::ConfirmationDetail* const confirmation = confirmed.mutable_confirmation();
    confirmation->set_over_baseline(1.25 * round);
    confirmation->set_over_baseline_low(1.2 * round);
    confirmation->set_over_baseline_high(1.3 * round);
    *confirmation->mutable_device_time() = ToProto(absl::Seconds(1));
    Add(run_id, confirmed);
  }
  if (goes_on) return;
  v1::RunEvent ended;
  ended.set_kind(v1::RunEvent::RUN_ENDED);
  ended.mutable_run()->set_state(v1::RUN_STATE_FINISHED);
  ended.mutable_run()->set_rounds_done(rounds);
  ended.mutable_run()->set_nano_usd(int64_t{1'000'000'000});
  Add(run_id, ended);
}

int64_t SampleRuns::newest() const {
  MutexLock lock(&mu_);
  return static_cast<int64_t>(entries_.size());
}

int SampleRuns::reads_of_events() const {
  MutexLock lock(&mu_);
  return reads_of_events_;
}

EventReader SampleRuns::Reader() const {
  EventReader reader;
  reader.feed = [this](int64_t after, int limit) {
    MutexLock lock(&mu_);
    const auto begin = entries_.begin() + std::min<int64_t>(after, entries_.size());
    const auto end = begin + std::min<int64_t>(limit, entries_.end() - begin);
    return std::vector<v1::FeedEntry>(begin, end);
  };
  reader.newest_cursor = [this] { return newest(); };
  reader.events = [this](const std::string& run_id) {
    MutexLock lock(&mu_);
    ++reads_of_events_;
    const auto found = events_.find(run_id);
    return found == events_.end() ? std::vector<v1::RunEvent>() : found->second;
  };
  reader.config = [](const std::string&) { return SampleConfig(); };
  reader.sources = [this](const std::string&, const std::string& candidate_id) {
    v1::Sources sources;
    v1::SourceFile* const file = sources.add_files();
    file->set_path("kernel.cpp");
    file->set_content(absl::StrCat("// ", candidate_id, "\n// ", text_, "\n"));
    v1::SourceFile* const odd = sources.add_files();
    odd->set_path("../../escape.h");
    odd->set_content("// escaped\n");
    return sources;
  };
  reader.world_model = [this](const std::string&) {
    v1::WorldModel model;
    model.set_revision(7);
    model.add_nodes()->mutable_action()->set_title(text_);
    return model;
  };
  return reader;
}

}  // namespace ksearch::sinks
