#include "gpu_worker/verifier/instruments/instrumented_run.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "absl/strings/str_cat.h"
#include "common/digest.h"
#include "common/status_macros.h"
#include "gpu_worker/verifier/dialogue/workload_session.h"
#include "gpu_worker/verifier/harness_constants.h"

namespace ksearch {
namespace {

// The time from the runner's end until its instrument has written its report.
constexpr absl::Duration kReportTime = absl::Seconds(10);
constexpr int64_t kOutputBytes = 2048;

std::string ReadWhole(int fd, int64_t max_bytes) {
  const off_t size = ::lseek(fd, 0, SEEK_END);
  std::string text(static_cast<size_t>(std::clamp<int64_t>(size, 0, max_bytes)), '\0');
  size_t have = 0;
  while (have < text.size()) {
    const ssize_t n = ::pread(fd, text.data() + have, text.size() - have, static_cast<off_t>(have));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    have += static_cast<size_t>(n);
  }
  text.resize(have);
  return text;
}

// Makes all calls in one batch, prepared before it, and checks nothing afterwards: a profiler may
// keep every other context, including the verifier's, off the device while its program waits.
Ending MakeCalls(Bench& bench, RunnerLink& link, const ProgramImage& candidate, BufferSets& buffers,
                 int calls, absl::Time deadline) {
  std::vector<FilledSet> variants;
  std::vector<int> order;
  for (int i = 0; i < calls; ++i) {
    variants.push_back({i, i});
    order.push_back(i);
  }
  const std::vector<MapPacket> packets = buffers.Map(calls);
  buffers.Prepare(variants, RandomUint64());
  const auto until = [&] { return std::max(deadline, bench.clock().SteadyNow()); };
  Ending ending = link.Load(candidate, until());
  if (ending.passed()) ending = link.Map(packets, until());
  if (ending.passed()) ending = link.RunBatch(order, until()).ending;
  return ending;
}

}  // namespace

absl::StatusOr<InstrumentedRunner> InstrumentedRunner::Launch(Bench& bench,
                                                              const InstrumentCommand& instrument,
                                                              const ProgramImage& candidate,
                                                              const v1::Limits& limits) {
  UniqueFd report(::memfd_create("ksearch-report", MFD_CLOEXEC));
  if (!report.ok()) return ErrnoStatus(errno, "memfd_create for a report");
  auto link = bench.starter().LaunchUnder(instrument, report.get(), candidate, limits);
  return InstrumentedRunner(bench, candidate, std::move(report), std::move(link));
}

absl::StatusOr<InstrumentedRun> InstrumentedRunner::Run(
    const std::shared_ptr<const WorkloadCase>& workload, int calls, absl::Time deadline,
    int64_t max_report_bytes) {
  ASSIGN_OR_RETURN(std::shared_ptr<BufferSets> buffers,
                   bench_->Buffers(workload, calls, "instrumented"));
  InstrumentedRun run;
  const absl::Status started = link_.ok() ? (*link_)->AwaitHello() : link_.status();
  if (!started.ok()) {
    run.trouble = CleanText(absl::string_view(started.message()), kMaxMessageBytes);
    run.report = ReadWhole(report_.get(), max_report_bytes);
    return run;
  }
  RunnerLink& link = **link_;
  const Ending ending = MakeCalls(*bench_, link, *candidate_, *buffers, calls, deadline);
  if (!ending.passed()) run.trouble = ending.message;
  if (!link.End(std::max(deadline, bench_->clock().SteadyNow() + kReportTime)) &&
      run.trouble.empty()) {
    run.trouble = "it did not come to its end in time";
  }
  run.output = link.EndAndReadOutput(kOutputBytes);
  run.report = ReadWhole(report_.get(), max_report_bytes);
  return run;
}

}  // namespace ksearch
