#include "gpu_worker/executor/device_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <atomic>
#include <filesystem>
#include <future>
#include <memory>
#include <set>
#include <thread>

#include "absl/strings/str_cat.h"
#include "common/subprocess.h"
#include "tests/fakes/eventually.h"
#include "tests/fakes/fake_verifier.h"

namespace ksearch {
namespace {

using testing::HasSubstr;

class SwitchedMonitor : public DeviceMonitor {
 public:
  SwitchedMonitor(std::string id, std::string architecture)
      : id_(std::move(id)), architecture_(std::move(architecture)) {}
  v1::DeviceFingerprint Fingerprint() const override {
    v1::DeviceFingerprint print;
    print.set_device_id(id_);
    print.set_name(model);
    print.set_architecture(architecture_);
    return print;
  }
  v1::DeviceHealth Sample() override {
    v1::DeviceHealth health;
    health.set_healthy(healthy);
    if (!healthy) health.set_reason(id_ + " is too hot");
    return health;
  }
  std::optional<v1::DeviceReading> Read() override {
    v1::DeviceReading reading;
    reading.set_device_id(id_);
    reading.set_temperature_celsius(44);
    return architecture_ == "sm_90a" ? std::optional(reading) : std::nullopt;
  }
  std::atomic<bool> healthy{true};
  std::string model = "H100";  // set before use

 private:
  const std::string id_;
  const std::string architecture_;
};

// Two GPUs of one kind, one of another, and the processors.
class DevicePoolTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "device_pool_test.XXXXXX";
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
    std::vector<DevicePool::Slot> slots;
    const struct {
      const char* id;
      const char* architecture;
      v1::DeviceClass device_class;
    } devices[] = {{"GPU-1", "sm_90a", v1::DEVICE_CLASS_CUDA},
                   {"GPU-2", "sm_90a", v1::DEVICE_CLASS_CUDA},
                   {"GPU-3", "sm_100a", v1::DEVICE_CLASS_CUDA},
                   {"cpu:1", "x86-64-v3", v1::DEVICE_CLASS_CPU}};
    for (const auto& device : devices) {
      monitors_.push_back(std::make_unique<SwitchedMonitor>(device.id, device.architecture));
      locks_.push_back(DeviceLock::Create(absl::StrCat(folder_, "/", device.id)).value());
      verifiers_.push_back(std::make_unique<FakeVerifier>());
      slots.push_back({device.device_class, monitors_.back().get(), locks_.back().get(),
                       verifiers_.back().get()});
    }
    pool_ = std::make_unique<DevicePool>(slots, /*first_rest=*/absl::Milliseconds(1));
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  absl::StatusOr<DevicePool::Taken> Take(const std::string& architecture = "",
                                         std::stop_token stop = {}) {
    return pool_->Take(v1::DEVICE_CLASS_CUDA, architecture, stop);
  }
  static std::string IdOf(const absl::StatusOr<DevicePool::Taken>& taken) {
    return taken.ok() ? taken->slot->monitor->Fingerprint().device_id() : taken.status().ToString();
  }

  std::string folder_;
  std::vector<std::unique_ptr<SwitchedMonitor>> monitors_;
  std::vector<std::unique_ptr<DeviceLock>> locks_;
  std::vector<std::unique_ptr<FakeVerifier>> verifiers_;
  std::unique_ptr<DevicePool> pool_;
};

TEST_F(DevicePoolTest, EveryJobGetsADeviceOfItsOwn) {
  const auto first = Take(), second = Take(), third = Take();
  EXPECT_EQ((std::set<std::string>{IdOf(first), IdOf(second), IdOf(third)}),
            (std::set<std::string>{"GPU-1", "GPU-2", "GPU-3"}));
  EXPECT_EQ(second->slot->verifier, verifiers_[1].get());
}

TEST_F(DevicePoolTest, TheArchitectureDecides) {
  EXPECT_EQ(IdOf(Take("sm_100a")), "GPU-3");
  const auto first = Take("sm_90a");
  EXPECT_EQ(IdOf(first), "GPU-1");
  EXPECT_EQ(IdOf(Take("sm_90a")), "GPU-2");
  const auto none = Take("sm_80");
  EXPECT_EQ(none.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(none.status().message()),
              testing::AllOf(HasSubstr("sm_80"), HasSubstr("DEVICE_CLASS_CUDA sm_100a")));
}

TEST_F(DevicePoolTest, WhoTakesTurnsOnADeviceIsSaid) {
  EXPECT_EQ(pool_->Health().reason(), "");
  SubprocessOptions options;
  options.argv = {"/usr/bin/flock", folder_ + "/GPU-2", "/bin/sleep", "100"};
  auto child = Subprocess::Start(options);
  ASSERT_TRUE(child.ok()) << child.status();
  EXPECT_TRUE(Eventually([&] { return !pool_->Health().reason().empty(); }));
  const v1::DeviceHealth health = pool_->Health();
  EXPECT_TRUE(health.healthy());
  EXPECT_EQ(health.reason(),
            absl::StrCat("GPU-2 is shared, in turns, with another worker of this machine: process ",
                         (*child)->pid(), " (flock)"));
  (*child)->Kill();
  EXPECT_EQ(pool_->Health().reason(), health.reason()) << "it may come again";
}

TEST_F(DevicePoolTest, ReadingsAreToldOfSickDevicesToo) {
  monitors_[0]->healthy = false;
  const v1::DeviceHealth health = pool_->Health();
  ASSERT_EQ(health.readings_size(), 2);
  EXPECT_EQ(health.readings(0).device_id(), "GPU-1");
  EXPECT_EQ(health.readings(1).device_id(), "GPU-2");
  EXPECT_EQ(health.readings(0).temperature_celsius(), 44);
}

TEST_F(DevicePoolTest, TheModelDecidesWhereOneIsAskedFor) {
  monitors_[1]->model = "H200";
  const auto take = [&](const std::string& model) {
    return pool_->Take(v1::DEVICE_CLASS_CUDA, "sm_90a", {}, "", model);
  };
  EXPECT_EQ(IdOf(take("H200")), "GPU-2");
  EXPECT_EQ(
      (*pool_->Example(v1::DEVICE_CLASS_CUDA, "", "H200"))->monitor->Fingerprint().device_id(),
      "GPU-2");
  const auto none = take("B200");
  EXPECT_EQ(none.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(none.status().message()),
              testing::AllOf(HasSubstr("sm_90a B200"), HasSubstr("sm_90a H200")));
}

TEST_F(DevicePoolTest, ADeviceToAvoidIsTakenLast) {
  const auto take = [&] { return pool_->Take(v1::DEVICE_CLASS_CUDA, "sm_90a", {}, "GPU-1"); };
  const auto first = take(), second = take();
  EXPECT_EQ(IdOf(first), "GPU-2");
  EXPECT_EQ(IdOf(second), "GPU-1");
}

TEST_F(DevicePoolTest, WhoWaitsGetsTheFirstDeviceThatIsGivenBack) {
  std::optional<absl::StatusOr<DevicePool::Taken>> first = Take("sm_90a");
  const auto second = Take("sm_90a");
  auto waiting = std::async(std::launch::async, [&] { return Take("sm_90a"); });
  EXPECT_EQ(waiting.wait_for(std::chrono::milliseconds(30)), std::future_status::timeout);
  first.reset();
  EXPECT_EQ(IdOf(waiting.get()), "GPU-1");
}

TEST_F(DevicePoolTest, StopEndsTheWait) {
  const auto first = Take("sm_90a"), second = Take("sm_90a");
  std::stop_source stop;
  auto waiting = std::async(std::launch::async, [&] { return Take("sm_90a", stop.get_token()); });
  stop.request_stop();
  EXPECT_TRUE(absl::IsCancelled(waiting.get().status()));
}

TEST_F(DevicePoolTest, ADeviceThatAnotherWorkerHoldsIsPassedOver) {
  const auto other = DeviceLock::Create(folder_ + "/GPU-1").value();
  const auto theirs = other->Acquire(DeviceLock::Mode::kExclusive, {});
  EXPECT_EQ(IdOf(Take("sm_90a")), "GPU-2");
}

TEST_F(DevicePoolTest, UnhealthyDevicesAreLeftAlone) {
  monitors_[0]->healthy = false;
  EXPECT_EQ(IdOf(Take("sm_90a")), "GPU-2");
  EXPECT_TRUE(pool_->Health().healthy());
  monitors_[1]->healthy = false;
  const auto none = Take("sm_90a");
  EXPECT_EQ(none.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(none.status().message()),
              testing::AllOf(HasSubstr("GPU-1 is too hot"), HasSubstr("GPU-2 is too hot")));
  for (const auto& monitor : monitors_) monitor->healthy = false;
  EXPECT_FALSE(pool_->Health().healthy());
  EXPECT_THAT(pool_->Health().reason(), HasSubstr("GPU-3 is too hot"));
}

TEST_F(DevicePoolTest, ManyJobsNeverShareADevice) {
  std::atomic<int> users[4] = {};
  std::atomic<bool> shared{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        const auto taken = Take();
        if (!taken.ok()) continue;
        const auto slot = static_cast<size_t>(taken->slot - pool_->slots().data());
        if (++users[slot] != 1) shared = true;
        std::this_thread::yield();
        --users[slot];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(shared);
}

TEST_F(DevicePoolTest, SickDevicesAreNamedBesideHealthyOnes) {
  EXPECT_EQ(pool_->Health().devices(), 4);
  EXPECT_TRUE(pool_->Health().sick_devices().empty());
  monitors_[1]->healthy = false;
  const v1::DeviceHealth health = pool_->Health();
  EXPECT_TRUE(health.healthy());
  EXPECT_EQ(health.reason(), "");
  ASSERT_EQ(health.sick_devices_size(), 1);
  EXPECT_EQ(health.sick_devices(0).device_id(), "GPU-2");
  EXPECT_EQ(health.sick_devices(0).reason(), "GPU-2 is too hot");
  monitors_[1]->healthy = true;
  EXPECT_TRUE(pool_->Health().sick_devices().empty());
}

TEST_F(DevicePoolTest, ADeviceInDoubtServesAgainOnceItAnswers) {
  verifiers_[0]->set_probe_answer(absl::UnavailableError("no context"));
  pool_->Doubt(pool_->slots()[0], "the verifier ended with signal 6");
  ASSERT_TRUE(Eventually([&] { return pool_->Health().sick_devices_size() == 1; }));
  EXPECT_EQ(pool_->Health().sick_devices(0).reason(), "no context");
  EXPECT_TRUE(pool_->Health().healthy());
  {
    const auto first = Take("sm_90a");
    EXPECT_EQ(IdOf(first), "GPU-2");
    // Nothing else fits, so a second job waits for GPU-2 until GPU-1 answers.
    auto second = std::async(std::launch::async, [this] { return IdOf(Take("sm_90a")); });
    verifiers_[0]->set_probe_answer(absl::OkStatus());
    EXPECT_EQ(second.get(), "GPU-1");
  }
  EXPECT_TRUE(pool_->Health().sick_devices().empty());
  EXPECT_GE(verifiers_[0]->probes(), 2);
}

TEST_F(DevicePoolTest, AJobWaitsWhileItsOnlyDeviceIsAsked) {
  pool_->Doubt(pool_->slots()[2], "trouble");
  EXPECT_EQ(IdOf(Take("sm_100a")), "GPU-3");
  EXPECT_EQ(verifiers_[2]->probes(), 1);
  verifiers_[2]->set_probe_answer(absl::UnavailableError("dead"));
  pool_->Doubt(pool_->slots()[2], "more trouble");
  EXPECT_EQ(Take("sm_100a").status().message(), "dead");
  monitors_[2]->healthy = false;
  EXPECT_EQ(Take("sm_100a").status().message(), "GPU-3 is too hot");
}

TEST_F(DevicePoolTest, GpusAreAskedBeforeTheirFirstJob) {
  verifiers_[1]->set_probe_answer(absl::UnavailableError("broken from the start"));
  pool_->DoubtAll();
  ASSERT_TRUE(Eventually([&] { return pool_->Health().sick_devices_size() == 1; }));
  EXPECT_EQ(pool_->Health().sick_devices(0).device_id(), "GPU-2");
  const auto first = Take(), second = Take();
  EXPECT_EQ((std::set<std::string>{IdOf(first), IdOf(second)}),
            (std::set<std::string>{"GPU-1", "GPU-3"}));
  EXPECT_EQ(verifiers_[3]->probes(), 0);  // the processors
}

}  // namespace
}  // namespace ksearch
