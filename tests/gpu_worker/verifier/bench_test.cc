#include "gpu_worker/verifier/timing/bench.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/message_frames.h"
#include "common/unique_fd.h"
#include "gpu_worker/verifier/host/memfd_buffer_sets.h"
#include "gpu_worker/verifier/job_verifier.h"
#include "gpu_worker/verifier/request_loop.h"
#include "tests/fakes/plain_sandbox.h"
#include "tests/gpu_worker/verifier/matmul_task.h"

namespace ksearch {
namespace {

using ::testing::HasSubstr;

class BenchTest : public ::testing::Test {
 protected:
  std::shared_ptr<const WorkloadCase> CaseOf(int workload) {
    return *WorkloadCase::Create(task_, task_.workloads(workload), "sha", Seed{1, 1});
  }
  PlainSandbox sandbox_;
  RunnerStarter starter_{sandbox_, "/nonexistent/runner", {}, Clock::Real()};
  const v1::Task task_ = MatmulTask();
};

TEST_F(BenchTest, MemoryKeptForLaterJobsGoesBeforeAnAllocationFails) {
  int64_t used = 0;
  int calls = 0;
  constexpr int64_t kRoom = 400 << 10;
  Bench bench(
      starter_,
      [&](std::shared_ptr<const WorkloadCase> workload,
          int sets) -> absl::StatusOr<std::shared_ptr<BufferSets>> {
        ++calls;
        if (used + workload->footprint_bytes() * sets > kRoom) {
          return absl::ResourceExhaustedError("no room");
        }
        used += workload->footprint_bytes() * sets;
        const int64_t bytes = workload->footprint_bytes() * sets;
        auto made = *MemfdBufferSets::Create(std::move(workload), sets);
        return std::shared_ptr<BufferSets>(made.get(),
                                           [made, bytes, &used](BufferSets*) { used -= bytes; });
      },
      Clock::Real(), Bench::Options());
  const auto medium = CaseOf(1);
  ASSERT_LT(medium->footprint_bytes() * 5, kRoom);
  ASSERT_TRUE(bench.Buffers(medium, 4, "gate").ok());
  EXPECT_EQ(calls, 1);
  // Does not fit beside the first buffers, which nobody uses any more.
  ASSERT_TRUE(bench.Buffers(medium, 4, "candidate").ok());
  EXPECT_EQ(calls, 3);
  // Too large in any case.
  EXPECT_EQ(bench.Buffers(medium, 64, "candidate").status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST_F(BenchTest, KeptBuffersOfSmallTensorsLeaveFilesForOthers) {
  Bench::Options options;
  options.max_kept_files = 100;
  Bench bench(starter_, MemfdBufferSets::Create, Clock::Real(), options);
  const auto small = CaseOf(0);
  std::vector<std::weak_ptr<BufferSets>> made;
  for (int i = 0; i < 20; ++i) {
    const auto buffers = bench.Buffers(small, 8, absl::StrCat("use ", i));
    ASSERT_TRUE(buffers.ok()) << buffers.status();
    made.push_back(*buffers);
  }
  int64_t files = 0;
  for (const std::weak_ptr<BufferSets>& one : made) {
    if (const auto kept = one.lock(); kept != nullptr) files += kept->files();
  }
  EXPECT_LE(files, 100);
  EXPECT_GT(files, 50);
  EXPECT_FALSE(made.back().expired());
}

TEST_F(BenchTest, AFailedDeviceMakesNoVerdict) {
  Bench::Options options;
  options.device_health = [] { return absl::AbortedError("the device fell off the bus"); };
  Bench bench(starter_, MemfdBufferSets::Create, Clock::Real(), options);
  JobVerifier verifier(bench, [](const v1::VerifierReply::Progress&) {});
  EXPECT_THAT(std::string(verifier.Verify(v1::VerifierRequest()).status().message()),
              HasSubstr("the device fell off the bus"));
}

TEST_F(BenchTest, AMachineThatSeemsTooSlowIsMeasuredAgain) {
  double speed = 1e9;
  int measured = 0;
  Bench::Options options;
  options.measure_host = [&] {
    ++measured;
    HostPeaks peaks;
    peaks.cache_bytes_per_second = speed;
    return peaks;
  };
  Bench bench(starter_, MemfdBufferSets::Create, Clock::Real(), options);
  v1::Task task = task_;
  task.mutable_work()->set_bytes("1000000");
  EXPECT_EQ(bench.Floor(task, task.workloads(0)), 1000);
  EXPECT_FALSE(bench.IsImpossible(600, 1000));
  EXPECT_EQ(measured, 1);
  EXPECT_TRUE(bench.IsImpossible(400, 1000));
  EXPECT_EQ(measured, 2);
  // The device was busy before.
  speed = 2e9;
  EXPECT_FALSE(bench.IsImpossible(400, 1000));
  EXPECT_EQ(bench.Floor(task, task.workloads(0)), 500);
  EXPECT_TRUE(bench.IsImpossible(200, 500));
}

TEST_F(BenchTest, WhatWasNotMeasuredForbidsNothing) {
  Bench bench(starter_, MemfdBufferSets::Create, Clock::Real(), Bench::Options());
  v1::Task task = task_;
  task.mutable_work()->set_bytes("1000000");
  EXPECT_EQ(bench.Floor(task, task.workloads(0)), 0);
  EXPECT_FALSE(bench.IsImpossible(0, 0));
}

TEST(RequestLoopTest, AVerifierThatCannotWorkSaysWhy) {
  int pair[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
  const UniqueFd worker(pair[0]), verifier(pair[1]);
  v1::VerifierRequest request;
  request.set_request_id("r1");
  ASSERT_TRUE(SendMessage(worker.get(), request, absl::InfiniteFuture()).ok());
  EXPECT_EQ(RefuseRequest(verifier.get(), absl::NotFoundError("no CUDA driver")).code(),
            absl::StatusCode::kNotFound);
  v1::VerifierReply reply;
  ASSERT_TRUE(ReceiveMessage(worker.get(), absl::InfiniteFuture(), &reply).ok());
  EXPECT_EQ(reply.request_id(), "r1");
  EXPECT_EQ(reply.infrastructure_error(), "no CUDA driver");
}

}  // namespace
}  // namespace ksearch
