#ifndef KSEARCH_TESTS_COORDINATOR_STORE_STORE_FIXTURE_H_
#define KSEARCH_TESTS_COORDINATOR_STORE_STORE_FIXTURE_H_

#include <stdlib.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/mutex.h"
#include "coordinator/store/store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {

class TempFolder {
 public:
  TempFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "store_XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    path_ = pattern;
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }
  std::string File(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

inline Store::Options At(const std::string& path) {
  Store::Options options;
  options.path = path;
  options.lock_wait = absl::ZeroDuration();
  return options;
}

inline v1::JobSpec Spec(const std::string& text) {
  v1::JobSpec spec;
  spec.set_kind(v1::JOB_KIND_SCREEN);
  spec.set_task_name("axpy");
  spec.mutable_candidate()->set_language(v1::LANGUAGE_CPP);
  v1::SourceFile* file = spec.mutable_candidate()->add_files();
  file->set_path("kernel.cpp");
  file->set_content(text);
  return spec;
}

inline v1::JobResult Result(const std::string& job_id, const std::string& worker_id = "w1") {
  v1::JobResult result;
  result.set_job_id(job_id);
  result.set_worker_id(worker_id);
  result.set_attempt(1);
  result.set_outcome(v1::OUTCOME_PASSED);
  result.set_message("from " + worker_id);
  return result;
}

// Posts and waits: the answer of an asynchronous method.
template <typename Answer, typename Post>
Answer WaitFor(Post post) {
  struct Waiting {
    Mutex mu;
    CondVar answered;
    std::optional<Answer> answer ABSL_GUARDED_BY(mu);
  };
  auto waiting = std::make_shared<Waiting>();
  post([waiting](Answer answer) {
    MutexLock lock(&waiting->mu);
    waiting->answer = std::move(answer);
    waiting->answered.NotifyAll();
  });
  MutexLock lock(&waiting->mu);
  while (!waiting->answer.has_value()) waiting->answered.Wait(&waiting->mu);
  return *std::move(waiting->answer);
}

inline absl::StatusOr<v1::RecordResultReply::Disposition> Record(Store& store,
                                                                 const v1::JobResult& result,
                                                                 const std::string& lease = "") {
  return WaitFor<absl::StatusOr<v1::RecordResultReply::Disposition>>(
      [&](auto done) { store.RecordResult(result, lease, done); });
}

inline absl::Status Reply(Store& store, const LlmCallRow& call) {
  return WaitFor<absl::Status>([&](auto done) { store.RecordReply(call, done); });
}

inline absl::Status Attempt(Store& store, const AttemptRow& attempt) {
  return WaitFor<absl::Status>([&](auto done) { store.RecordAttempt(attempt, done); });
}

// A store on its own file, which can be closed and opened again.
class StoreTest : public testing::Test {
 protected:
  StoreTest() { Reopen(); }

  void Reopen() {
    store_.reset();
    absl::StatusOr<std::unique_ptr<Store>> store = Store::Open(At(path()));
    if (!store.ok()) {
      ADD_FAILURE() << store.status();
      std::abort();
    }
    store_ = *std::move(store);
  }
  std::string path() const { return folder_.File("ksearch.db"); }

  std::string NewRun(const std::string& run_id) {
    RunRow run;
    run.run_id = run_id;
    run.request_id = "request-" + run_id;
    run.config.set_task("axpy");
    run.status.set_run_id(run_id);
    run.status.set_state(v1::RUN_STATE_RUNNING);
    const absl::StatusOr<std::string> id = store_->CreateRun(run);
    EXPECT_TRUE(id.ok()) << id.status();
    return run_id;
  }
  StepCommit Step(const std::string& run_id) {
    StepCommit step;
    step.run_id = run_id;
    step.status.set_state(v1::RUN_STATE_RUNNING);
    return step;
  }
  void Ask(const std::string& run_id, const std::string& tag, const std::string& job_id) {
    StepCommit step = Step(run_id);
    step.jobs.push_back({job_id, Spec("text of " + job_id), tag});
    const absl::Status status = store_->CommitStep(step);
    EXPECT_TRUE(status.ok()) << status;
  }
  // "kind ref tag" of every arrival of the run.
  std::vector<std::string> Arrivals(const std::string& run_id) {
    std::vector<std::string> lines;
    const auto arrivals = store_->ReadArrivals(run_id, 0, 0);
    EXPECT_TRUE(arrivals.ok()) << arrivals.status();
    for (const Arrival& arrival : *arrivals) {
      lines.push_back(absl::StrCat(arrival.kind == Arrival::Kind::kReply ? "reply " : "result ",
                                   arrival.ref, " ", arrival.tag));
    }
    return lines;
  }

  TempFolder folder_;
  std::unique_ptr<Store> store_;
};

}  // namespace ksearch

#endif  // KSEARCH_TESTS_COORDINATOR_STORE_STORE_FIXTURE_H_
