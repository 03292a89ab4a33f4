#include "coordinator/store/task_fault_rows.h"

#include "tests/coordinator/store/store_fixture.h"

namespace ksearch {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class TaskFaultRowsTest : public StoreTest {
 protected:
  // A job of the task, whose result a worker brings.
  void End(const std::string& job_id, const std::string& task, v1::Outcome outcome,
           const std::string& message, const std::string& worker_id = "w1") {
    v1::JobSpec spec = Spec(job_id);
    spec.set_task_sha256(task);
    ASSERT_TRUE(store_->AddJob(job_id, spec).ok());
    v1::JobResult result = Result(job_id, worker_id);
    result.set_outcome(outcome);
    result.set_message(message);
    ASSERT_TRUE(Record(*store_, result).ok());
  }
  std::vector<std::string> Faults() {
    std::vector<std::string> lines;
    const auto faults = store_->ReadTaskFaults();
    EXPECT_TRUE(faults.ok()) << faults.status();
    for (const TaskFaultRow& fault : *faults) {
      lines.push_back(absl::StrCat(fault.spec.task_sha256(), ": ", fault.result.message()));
    }
    return lines;
  }
};

TEST_F(TaskFaultRowsTest, AreKeptUntilTheTaskIsFoundInOrder) {
  End("a", "t1", v1::OUTCOME_TASK_ERROR, "oops");
  End("b", "t2", v1::OUTCOME_TASK_ERROR, "ouch");
  End("c", "t3", v1::OUTCOME_PASSED, "");
  Reopen();
  EXPECT_THAT(Faults(), ElementsAre("t1: oops", "t2: ouch"));
  End("d", "t1", v1::OUTCOME_TASK_ERROR, "oops again");
  EXPECT_THAT(Faults(), ElementsAre("t2: ouch", "t1: oops again"));
  // Says nothing about the task.
  End("e", "t1", v1::OUTCOME_COMPILE_ERROR, "");
  EXPECT_THAT(Faults(), ElementsAre("t2: ouch", "t1: oops again"));
  End("f", "t1", v1::OUTCOME_INCORRECT, "");
  Reopen();
  EXPECT_THAT(Faults(), ElementsAre("t2: ouch"));
}

TEST_F(TaskFaultRowsTest, WhatNoWorkerFoundIsNoEvidence) {
  End("a", "t1", v1::OUTCOME_TASK_ERROR, "found by an earlier job", /*worker_id=*/"");
  EXPECT_THAT(Faults(), IsEmpty());
  End("b", "t1", v1::OUTCOME_TASK_ERROR, "oops");
  End("c", "t1", v1::OUTCOME_CANCELLED, "", /*worker_id=*/"");
  EXPECT_THAT(Faults(), ElementsAre("t1: oops"));
}

}  // namespace
}  // namespace ksearch
