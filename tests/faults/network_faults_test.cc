// Network faults between a coordinator and its workers: partitions, delay, loss, peers that vanish
// or stop reading, a coordinator that is unreachable for long. In every case, work continues within
// 2 s of the network's return, and every result that a worker delivers is recorded once.
//    KSEARCH_FAULTS=all    outages in full length (60 s); otherwise scaled to seconds.
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <functional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/fakes/eventually.h"
#include "tests/faults/faulty_cluster.h"

namespace ksearch {
namespace {

constexpr int kCoordinator = FaultyCluster::kCoordinator;
constexpr int kWorkers = FaultyCluster::kWorkers;
#ifdef KSEARCH_SANITIZED
constexpr absl::Duration kResumeWithin = absl::Seconds(6);  // slowed by its instruments
#else
constexpr absl::Duration kResumeWithin = absl::Seconds(2);
#endif
// A busy machine is slow for reasons of its own: a fault is tried again before it counts.
constexpr int kTries = 3;

bool All() { return ::getenv("KSEARCH_FAULTS") != nullptr; }
absl::Duration Long() { return All() ? absl::Seconds(60) : absl::Seconds(5); }

// One cluster goes through all of it.
class NetworkFaultsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    auto network = FaultyNetwork::Create(1 + kWorkers, /*seed=*/7);
    allowed_ = network.ok();
    absl::Status status = network.status();
    if (network.ok()) {
      auto cluster = FaultyCluster::Start(*std::move(network), All() ? 10'000 : 1000);
      status = cluster.status();
      if (cluster.ok()) cluster_ = cluster->release();
    }
    why_not_ = new std::string(status.ToString());
  }
  static void TearDownTestSuite() {
    delete cluster_;
    cluster_ = nullptr;
    delete why_not_;
  }

  void SetUp() override {
    if (!allowed_) {
      GTEST_SKIP()
          << "NOT TESTED: this machine allows no network namespaces or TUN devices, or has "
             "no `ip`: "
          << *why_not_;
    }
    ASSERT_NE(cluster_, nullptr) << *why_not_;
    ASSERT_TRUE(BothWork()) << Logs();
  }
  void TearDown() override {
    if (cluster_ != nullptr) cluster_->network().Heal();
  }

  static FaultyNetwork& network() { return cluster_->network(); }
  static void Cut(int machine) { network().Cut(machine, true, true); }

  static bool BothWork() {
    const absl::Time since = absl::Now();
    return Eventually([&] { return cluster_->WorkedSince(since, nullptr) == kWorkers; },
                      absl::Seconds(30));
  }
  static std::string Logs() {
    std::string logs;
    for (const char* name : {"coordinator", "w1", "w2"}) {
      const std::string log = cluster_->Log(name);
      absl::StrAppend(&logs, name, ":\n",
                      log.substr(log.size() - std::min<size_t>(log.size(), 3000)));
    }
    return logs;
  }

  // Does `fault`, which ends with the network's return, and says how long after that the work of
  // both workers went on.
  static void ExpectWorkResumes(const std::string& name, const std::function<void()>& fault,
                                absl::Duration within = kResumeWithin) {
    for (int i = 1;; ++i) {
      fault();
      const absl::Time healed = absl::Now();
      absl::Time last;
      ASSERT_TRUE(Eventually([&] { return cluster_->WorkedSince(healed, &last) == kWorkers; },
                             absl::Seconds(30)))
          << name << Logs();
      std::printf("%-45s work of both workers went on after %.2f s\n", name.c_str(),
                  absl::ToDoubleSeconds(last - healed));
      std::fflush(stdout);
      if (last - healed <= within) return;
      ASSERT_LT(i, kTries) << name << ": later than " << within << " each time\n" << Logs();
      ASSERT_TRUE(BothWork());
    }
  }

  static bool allowed_;
  static FaultyCluster* cluster_;
  static std::string* why_not_;
};

bool NetworkFaultsTest::allowed_ = false;
FaultyCluster* NetworkFaultsTest::cluster_ = nullptr;
std::string* NetworkFaultsTest::why_not_ = nullptr;

TEST_F(NetworkFaultsTest, PartitionsOfEveryLength) {
  // Shorter than keepalive notices, about as long, and longer.
  for (const absl::Duration length : {absl::Milliseconds(1500), absl::Milliseconds(3500), Long()}) {
    ExpectWorkResumes(absl::StrCat("partition of ", absl::FormatDuration(length)), [&] {
      Cut(kCoordinator);
      absl::SleepFor(length);
      network().Heal();
    });
  }
}

TEST_F(NetworkFaultsTest, WhileOneWorkerIsCutOffTheOtherGoesOn) {
  ExpectWorkResumes("one worker of two cut off", [] {
    Cut(1);
    absl::SleepFor(absl::Milliseconds(4500));
    const absl::Time since = absl::Now();
    EXPECT_TRUE(Eventually([&] { return cluster_->WorkedSince(since, nullptr) == 1; }));
    network().Heal();
  });
}

TEST_F(NetworkFaultsTest, DeafWorkersAndMuteOnes) {
  ExpectWorkResumes("worker hears nothing, is heard", [] {
    network().Cut(1, /*sending=*/false, /*receiving=*/true);
    absl::SleepFor(Long());
    network().Heal();
  });
  ExpectWorkResumes("worker hears, is not heard", [] {
    network().Cut(1, /*sending=*/true, /*receiving=*/false);
    absl::SleepFor(Long());
    network().Heal();
  });
}

TEST_F(NetworkFaultsTest, PeersThatVanishWithoutAWord) {
  ExpectWorkResumes("worker killed behind a cut, back at once", [] {
    Cut(2);
    cluster_->Kill("w2");
    ASSERT_TRUE(cluster_->StartWorker(2).ok());
    absl::SleepFor(absl::Seconds(1));  // the coordinator still believes in the old connection
    network().Heal();
  });
  ExpectWorkResumes("coordinator killed behind a cut, back at once", [] {
    Cut(kCoordinator);
    cluster_->Kill("coordinator");
    ASSERT_TRUE(cluster_->StartCoordinator().ok());
    absl::SleepFor(absl::Seconds(1));
    network().Heal();
  });
}

TEST_F(NetworkFaultsTest, HalfASecondOfDelayEachWay) {
  network().SetWeather({absl::Milliseconds(500), 0});
  absl::SleepFor(absl::Seconds(2));
  const absl::Time since = absl::Now();
  EXPECT_TRUE(Eventually([&] { return cluster_->WorkedSince(since, nullptr) == kWorkers; }))
      << "work goes on under delay\n"
      << Logs();
  // New connections come about too: three round trips of a second each, and one for the first job.
  ExpectWorkResumes(
      "partition, 500 ms of delay before and after",
      [] {
        Cut(kCoordinator);
        absl::SleepFor(absl::Seconds(5));
        network().Cut(kCoordinator, false, false);
      },
      kResumeWithin + absl::Seconds(5));
  ExpectWorkResumes("500 ms of delay each way", [] {
    network().SetWeather({absl::Milliseconds(500), 0});
    absl::SleepFor(All() ? Long() : absl::Seconds(2));
    network().Heal();
  });
}

TEST_F(NetworkFaultsTest, TwentyPercentLoss) {
  ExpectWorkResumes("20 % loss each way", [] {
    network().SetWeather({absl::Milliseconds(5), 0.2});
    const absl::Time since = absl::Now();
    absl::SleepFor(Long());
    EXPECT_EQ(cluster_->WorkedSince(since, nullptr), kWorkers) << "work goes on under loss";
    network().Heal();
  });
}

TEST_F(NetworkFaultsTest, CoordinatorIsGoneForLong) {
  ExpectWorkResumes(absl::StrCat("coordinator killed, back after ", absl::FormatDuration(Long())),
                    [] {
                      cluster_->Kill("coordinator");
                      absl::SleepFor(Long());
                      ASSERT_TRUE(cluster_->StartCoordinator().ok());
                    });
  ExpectWorkResumes(absl::StrCat("coordinator frozen for ", absl::FormatDuration(Long())), [] {
    ASSERT_EQ(::kill(cluster_->Pid("coordinator"), SIGSTOP), 0);
    absl::SleepFor(Long());
    ASSERT_EQ(::kill(cluster_->Pid("coordinator"), SIGCONT), 0);
  });
}

// Runs last, and covers all that was done before.
TEST_F(NetworkFaultsTest, NothingWasLostOrDoubled) {
  EXPECT_TRUE(cluster_->Stop("w1"));
  EXPECT_TRUE(cluster_->Stop("w2"));
  EXPECT_TRUE(cluster_->Stop("coordinator"));
  const FaultyCluster::Account account = cluster_->TakeStock();
  std::printf(
      "jobs begun %zu, recorded %zu, executions %d, acknowledgments %d; lost %zu, doubled %d; "
      "packets carried %ld, dropped %ld\n",
      account.accepted.size(), account.recorded.size(), account.executions, account.acknowledged,
      account.lost.size(), account.doubled, network().carried(), network().dropped());
  EXPECT_GT(account.recorded.size(), 20u);
  EXPECT_TRUE(account.lost.empty()) << account.lost.front();
  EXPECT_EQ(account.doubled, 0);
  EXPECT_EQ(account.open, 0) << Logs();
}

}  // namespace
}  // namespace ksearch
