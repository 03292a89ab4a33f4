#ifndef KSEARCH_TESTS_FAULTS_FAULTY_NETWORK_H_
#define KSEARCH_TESTS_FAULTS_FAULTY_NETWORK_H_

#include <atomic>
#include <functional>
#include <memory>
#include <queue>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/mutex.h"
#include "common/rng.h"
#include "common/unique_fd.h"

namespace ksearch {

// Machines with their own addresses, 10.77.0.1 and up, joined by a network that loses, delays and
// cuts on demand: network namespaces, each with a TUN device whose packets this process forwards.
// Faults affect whole packets, so TCP behaves as it would on a bad wire. Needs root.
class FaultyNetwork {
 public:
  struct Weather {
    absl::Duration delay = absl::ZeroDuration();  // each way
    double loss = 0;                              // of packets, each way
  };

  // PERMISSION_DENIED or NOT_FOUND: this account or kernel cannot have namespaces or TUN devices.
  static absl::StatusOr<std::unique_ptr<FaultyNetwork>> Create(int machines, uint64_t seed);
  ~FaultyNetwork();
  FaultyNetwork(const FaultyNetwork&) = delete;
  FaultyNetwork& operator=(const FaultyNetwork&) = delete;

  std::string Address(int machine) const;
  // Runs `work` on the machine's thread, in its namespace, where children it starts are too; waits.
  // The thread lives as long as this object, for children that are to die with it.
  void RunOn(int machine, std::function<void()> work);

  void SetWeather(Weather weather);
  // Cuts off the machine: drops what it sends, what is sent to it, or both.
  void Cut(int machine, bool sending, bool receiving);
  void Heal();  // ends all faults of all machines
  int64_t dropped() const { return dropped_; }
  int64_t carried() const { return carried_; }

 private:
  // Its thread has a network namespace of its own.
  struct Machine {
    ~Machine();
    void Serve();
    void Run(std::function<void()> next);

    UniqueFd tun;
    Mutex mu;
    CondVar changed;
    std::function<void()> work ABSL_GUARDED_BY(mu);  // null: nothing to do
    bool closing ABSL_GUARDED_BY(mu) = false;
    std::thread thread;
  };
  struct Packet {
    absl::Time due;
    int64_t number;  // keeps the order of packets that are due at once
    int to;
    std::string bytes;
    bool operator<(const Packet& other) const {
      return std::tie(other.due, other.number) < std::tie(due, number);
    }
  };

  explicit FaultyNetwork(uint64_t seed) : rng_(seed) {}
  absl::Status AddMachine(int number);
  void Carry();
  void Take(int from);

  std::vector<std::unique_ptr<Machine>> machines_;
  UniqueFd wake_read_, wake_write_;
  std::atomic<int64_t> dropped_{0}, carried_{0};

  Mutex mu_;
  Weather weather_ ABSL_GUARDED_BY(mu_);
  std::vector<bool> mute_ ABSL_GUARDED_BY(mu_), deaf_ ABSL_GUARDED_BY(mu_);

  Rng rng_;  // of thread_, as below
  std::priority_queue<Packet> on_the_way_;
  int64_t number_ = 0;
  std::thread thread_;
};

}  // namespace ksearch

#endif  // KSEARCH_TESTS_FAULTS_FAULTY_NETWORK_H_
