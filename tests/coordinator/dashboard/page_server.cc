// usage: page_server FOLDER TASK_DIR
// Serves the page of simulated runs for page_browser_test.py. Prints its URL, then carries out the
// lines of its input, each answered by "done":
//   run ID             a run in progress
//   rounds ID N        N rounds of it, in one step
//   say ID TEXT        an event
//   pause ID, stop ID  the run is paused, or has been stopped
//   gpus               a connected worker "node1" with two GPUs, of which one is throttled
//   hostile            a run "hostile" whose every text is hostile, and a worker's event
// Changes that a page requests are printed as "METHOD JSON".
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/log.h"
#include "common/mutex.h"
#include "coordinator/world_model/world_model.h"
#include "tests/coordinator/dashboard/hostile_run.h"
#include "tests/fakes/played_coordinator.h"

namespace ksearch {
namespace {

constexpr int kNodes = 24;

void PlayHostileRun(PlayedCoordinator* played) {
  const std::string hostile = dashboard::kHostile;
  const std::string run_id = "hostile";
  played->AddRun(run_id, 1);
  StepCommit step;
  step.run_id = run_id;
  step.status = *played->store().ReadRunStatus(run_id);
  step.status.set_task(hostile);
  step.status.set_strategy(hostile);
  step.status.set_model(hostile);
  step.status.set_reason(hostile);
  step.status.mutable_platform()->set_device_model(hostile);
  for (v1::CycleStatus& cycle : *step.status.mutable_cycles()) {
    cycle.set_title(hostile);
    cycle.set_phase(hostile);
  }
  v1::WorldModel model = NewWorldModel();
  v1::Node node;
  node.set_node_id("n1");
  node.set_parent_id(kRootId);
  node.set_decision(hostile);
  node.set_choice(hostile);
  node.set_notes(hostile);
  node.add_lessons(hostile);
  node.add_gains(hostile);
  node.mutable_action()->set_title(hostile);
  node.mutable_action()->set_description(hostile);
  node.mutable_action()->set_rationale(hostile);
  node.mutable_action()->set_difficulty(1);
  AppendNode(&model, std::move(node));
  model.set_kernel_summary(hostile);
  v1::Tombstone* pruned = model.add_tombstones();
  pruned->set_node_id("gone");
  pruned->set_title(hostile);
  pruned->set_reason(hostile);
  model.set_revision(2);
  step.world_model = &model;
  CandidateRow candidate;
  candidate.run_id = run_id;
  candidate.candidate_id = "c1";
  candidate.sources.set_language(v1::LANGUAGE_CPP);
  v1::SourceFile* file = candidate.sources.add_files();
  file->set_path(hostile);
  file->set_content(hostile);
  candidate.node_id = hostile;
  step.candidates.push_back(std::move(candidate));
  v1::RunEvent& event = step.events.emplace_back();
  event.set_kind(v1::RunEvent::CANDIDATE_FAILED);
  event.set_candidate_id("c1");
  event.set_node_id(hostile);
  event.set_text(hostile);
  event.mutable_candidate()->set_device_name(hostile);
  *event.mutable_at() = ToProto(Clock::Real().Now());
  CHECK_OK(played->store().CommitStep(step));
  v1::FleetEvent fleet;
  fleet.set_kind(v1::FleetEvent::WORKER_JOINED);
  fleet.set_worker_id(hostile);
  fleet.set_worker_name(hostile);
  fleet.set_text(hostile);
  *fleet.mutable_at() = ToProto(Clock::Real().Now());
  played->feed().Publish(std::move(fleet));
}

void PlayGpus(PlayedCoordinator* played) {
  v1::WorkerHello hello;
  hello.set_worker_id("w-node1");
  hello.set_name("node1");
  v1::WorkerReport report;
  report.mutable_health()->set_healthy(true);
  for (const char* id : {"GPU-1", "GPU-2"}) {
    v1::DeviceCapability* device = hello.add_devices();
    device->set_device_class(v1::DEVICE_CLASS_CUDA);
    device->mutable_fingerprint()->set_device_id(id);
    device->mutable_fingerprint()->set_name("NVIDIA H200");
  }
  v1::DeviceReading* first = report.mutable_health()->add_readings();
  first->set_device_id("GPU-1");
  first->set_sm_clock_mhz(1980);
  first->set_memory_clock_mhz(3201);
  first->set_temperature_celsius(41);
  first->set_power_milliwatts(122'600);
  first->set_power_limit_milliwatts(700'000);
  v1::DeviceReading* second = report.mutable_health()->add_readings();
  second->set_device_id("GPU-2");
  second->set_sm_clock_mhz(1215);
  second->set_temperature_celsius(84);
  second->set_throttle_reasons(0x1 | 0x20);
  played->AddWorker(hello, report);
}

void CarryOut(const std::vector<std::string>& words, PlayedCoordinator* played) {
  if (words[0] == "run") {
    played->AddRun(words[1], kNodes);
  } else if (words[0] == "rounds") {
    int count = 0;
    CHECK(absl::SimpleAtoi(words[2], &count));
    std::vector<v1::RunEvent> events;
    for (int round = 1; round <= count; ++round) {
      for (v1::RunEvent& event : played->RoundEvents(round)) events.push_back(std::move(event));
    }
    played->Step(words[1], std::move(events), [count](v1::RunStatus* status) {
      status->set_rounds_done(count);
      status->set_candidates(count);
      status->set_passed(count * 2 / 3);
    });
  } else if (words[0] == "say") {
    v1::RunEvent event;
    event.set_kind(v1::RunEvent::NOTE);
    event.set_text(words[2]);
    played->Step(words[1], {event}, [&](v1::RunStatus* status) { status->set_model(words[2]); });
  } else if (words[0] == "pause" || words[0] == "stop") {
    v1::RunEvent event;
    event.set_kind(v1::RunEvent::NOTE);
    event.set_text(words[0]);
    played->Step(words[1], {event}, [&](v1::RunStatus* status) {
      if (words[0] == "pause") status->set_paused(true);
      if (words[0] == "stop") status->set_state(v1::RUN_STATE_STOPPED);
    });
  } else if (words[0] == "gpus") {
    PlayGpus(played);
  } else {
    CHECK(words[0] == "hostile");
    PlayHostileRun(played);
  }
}

}  // namespace
}  // namespace ksearch

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: " << argv[0] << " FOLDER TASK_DIR\n";
    return 2;
  }
  ksearch::Mutex mu;  // keeps lines whole
  const auto print = [&mu](const std::string& line) {
    ksearch::MutexLock lock(&mu);
    std::cout << line << std::endl;
  };
  ksearch::PlayedCoordinator played(argv[1], {argv[2]},
                                    [&](absl::string_view method, absl::string_view json) {
                                      print(absl::StrCat(method, " ", json));
                                    });
  print(played.url());
  for (std::string line; std::getline(std::cin, line);) {
    ksearch::CarryOut(absl::StrSplit(line, absl::MaxSplits(' ', 2)), &played);
    print("done");
  }
  return 0;
}
