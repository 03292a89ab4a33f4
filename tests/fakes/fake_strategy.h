#ifndef KSEARCH_TESTS_FAKES_FAKE_STRATEGY_H_
#define KSEARCH_TESTS_FAKES_FAKE_STRATEGY_H_

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/identity.h"
#include "coordinator/search/search_strategy.h"

namespace ksearch {

// Asks `parallel` questions; every answer becomes a candidate, every screening the next question,
// until `rounds` candidates are screened. Its state is three numbers.
class FakeStrategy final : public SearchStrategy {
 public:
  // `profiles`: every candidate is profiled before the next question is asked.
  FakeStrategy(int rounds, int parallel, bool profiles = false)
      : rounds_(rounds), parallel_(parallel), profiles_(profiles) {}

  StepOutput Start() override {
    StepOutput output;
    for (int i = 0; i < parallel_ && asked_ < rounds_; ++i) Ask(&output);
    return output;
  }

  StepOutput OnAnswer(const ModelAnswer& answer) override {
    StepOutput output;
    if (!answer.status.ok()) {
      output.finished = output.failed = true;
      output.finish_reason = std::string(answer.status.message());
      return output;
    }
    ScreenCandidate screen;
    screen.tag = absl::StrCat("screen/", answer.call_number);
    screen.sources.set_language(v1::LANGUAGE_CPP);
    v1::SourceFile* file = screen.sources.add_files();
    file->set_path("kernel.cpp");
    file->set_content(answer.reply.text);
    screen.candidate_id = CandidateId(screen.sources);
    screen.call_number = answer.call_number;
    screen.round = static_cast<int>(answer.call_number);
    output.screens.push_back(screen);
    return output;
  }

  StepOutput OnScreened(const ScreenResult& result) override {
    StepOutput output;
    ++screened_;
    v1::RunEvent event;
    event.set_kind(v1::RunEvent::CANDIDATE_PASSED);
    event.set_text(result.tag);
    output.events.push_back(event);
    if (examines_) {
      ExamineCandidate examination;
      examination.tag = result.tag + kExamineTagEnd;
      examination.sources = ScreenedSources(result.tag);
      examination.candidate_id = CandidateId(examination.sources);
      output.examinations.push_back(examination);
      return output;
    }
    if (profiles_) {
      ProfileCandidate profile;
      profile.tag = result.tag + kProfileTagEnd;
      profile.sources = ScreenedSources(result.tag);
      profile.candidate_id = CandidateId(profile.sources);
      profile.workload_uuid = "w";
      output.profiles.push_back(profile);
      return output;
    }
    if (asked_ < rounds_) Ask(&output);
    Finish(&output);
    return output;
  }

  StepOutput OnProfiled(const ScreenResult& result) override {
    StepOutput output;
    v1::RunEvent event;
    event.set_kind(v1::RunEvent::NOTE);
    event.set_text(absl::StrCat(result.tag, " ", result.result.profile().kernels_size()));
    output.events.push_back(event);
    if (asked_ < rounds_) Ask(&output);
    Finish(&output);
    return output;
  }

  StepOutput OnExamined(const ScreenResult&) override {
    StepOutput output;
    if (asked_ < rounds_) Ask(&output);
    Finish(&output);
    return output;
  }
  // From now on every candidate is examined before the next question is asked.
  void ExamineAll() { examines_ = true; }

  StepOutput OnConfirmed(const Confirmation& confirmation) override {
    if (told_ != nullptr) {
      told_->push_back(absl::StrCat(confirmation.candidate_id, " against ", confirmation.rival_id));
    }
    StepOutput output;
    Finish(&output);
    return output;
  }
  // Where confirmations are noted: "CANDIDATE against RIVAL".
  void NoteConfirmationsIn(std::vector<std::string>* told) { told_ = told; }

  std::string Save() const override { return absl::StrCat(asked_, ",", screened_); }
  absl::StatusOr<StepOutput> Restore(const std::string& state) override {
    const std::pair<std::string, std::string> parts = absl::StrSplit(state, ',');
    asked_ = std::stoi(parts.first);
    screened_ = std::stoi(parts.second);
    StepOutput output;
    // A larger budget than the one that was spent.
    if (asked_ == screened_ && asked_ < rounds_) Ask(&output);
    Finish(&output);
    return output;
  }
  void Describe(v1::RunStatus* status) const override { status->set_rounds_done(screened_); }
  const v1::WorldModel* world_model() const override { return nullptr; }

 private:
  // The reply to question n is "n".
  static v1::Sources ScreenedSources(const std::string& tag) {
    v1::Sources sources;
    sources.set_language(v1::LANGUAGE_CPP);
    v1::SourceFile* file = sources.add_files();
    file->set_path("kernel.cpp");
    file->set_content(tag.substr(7));
    return sources;
  }
  void Finish(StepOutput* output) const {
    if (screened_ < rounds_) return;
    output->finished = true;
    output->finish_reason = "budget spent";
  }
  void Ask(StepOutput* output) {
    AskModel ask;
    ask.call_number = ++asked_;
    ask.role = "code";
    ask.labels.purpose = "action";
    ask.labels.attempt = asked_;
    ask.user = absl::StrCat("question ", asked_);
    output->asks.push_back(ask);
  }

  const int rounds_;
  const int parallel_;
  const bool profiles_;
  bool examines_ = false;
  std::vector<std::string>* told_ = nullptr;
  int asked_ = 0;
  int screened_ = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_TESTS_FAKES_FAKE_STRATEGY_H_
