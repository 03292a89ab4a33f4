#ifndef KSEARCH_BENCH_PLAYED_FLEET_H_
#define KSEARCH_BENCH_PLAYED_FLEET_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "common/subprocess.h"
#include "coordinator/service/worker_gateway.h"
#include "proto/job.pb.h"
#include "proto/worker_service.pb.h"

namespace ksearch {

// Workers for benchmarks: all in one other process, each with a connection of its own, doing
// nothing with their jobs but answering them.
inline constexpr int kPlayedSlots = 2;

v1::WorkerHello PlayedHelloOf(int number);
// A job about the size of a small kernel.
v1::JobSpec PlayedSpec(const std::string& salt);

// Starts `count` of them, which need `job_time`, give or take half of it, for each job, and waits
// until they are all connected. Their results carry the time on this machine's steady clock at
// which the offer came, in nanoseconds, as their message. They end with the returned process.
std::unique_ptr<Subprocess> StartPlayedFleet(const std::string& address, int count,
                                             const WorkerGateway& gateway,
                                             absl::Duration job_time = absl::ZeroDuration());
// Of the gateway's workers, those that are connected and have reported.
int ConnectedWorkers(const WorkerGateway& gateway);

// First thing in main: serves as the process of workers if that is what the arguments are for, and
// then does not return.
void ServeAsPlayedFleet(int argc, char** argv);

// For times that two processes of this machine compare.
int64_t SteadyNanos();

}  // namespace ksearch

#endif  // KSEARCH_BENCH_PLAYED_FLEET_H_
