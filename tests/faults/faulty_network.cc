#include "tests/faults/faulty_network.h"

#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/log.h"
#include "common/status_macros.h"
#include "common/subprocess.h"

namespace ksearch {
namespace {

constexpr size_t kMaxPacket = 64 << 10;
constexpr int kIpv4AddressOffset = 16;  // of the destination

absl::Status Ip(const std::vector<std::string>& args) {
  SubprocessOptions options;
  options.argv = {"ip"};
  options.argv.insert(options.argv.end(), args.begin(), args.end());
  options.environment = {{"PATH", "/usr/sbin:/sbin:/usr/bin:/bin"}};
  ASSIGN_OR_RETURN(const CommandOutput output, RunCommand(options, absl::Seconds(20), 1 << 16));
  if (output.exit.code == 0 && !output.exit.signaled) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("ip ", args[0], ": ", output.err));
}

// Moves the calling thread into its own namespace, with one network device.
absl::Status MakeMachine(const std::string& address, UniqueFd* tun) {
  if (::unshare(CLONE_NEWNET) != 0) return ErrnoStatus(errno, "make a network namespace");
  *tun = UniqueFd(::open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK));
  if (!tun->ok()) return ErrnoStatus(errno, "open /dev/net/tun");
  ifreq request = {};
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  ::strncpy(request.ifr_name, "wire", IFNAMSIZ - 1);
  if (::ioctl(tun->get(), TUNSETIFF, &request) != 0) return ErrnoStatus(errno, "make a TUN device");
  RETURN_IF_ERROR(Ip({"link", "set", "lo", "up"}));
  RETURN_IF_ERROR(Ip({"addr", "add", address + "/24", "dev", "wire"}));
  return Ip({"link", "set", "wire", "up"});
}

}  // namespace

absl::StatusOr<std::unique_ptr<FaultyNetwork>> FaultyNetwork::Create(int machines, uint64_t seed) {
  auto network = std::unique_ptr<FaultyNetwork>(new FaultyNetwork(seed));
  for (int i = 0; i < machines; ++i) RETURN_IF_ERROR(network->AddMachine(i));
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return ErrnoStatus(errno, "pipe");
  network->wake_read_ = UniqueFd(ends[0]);
  network->wake_write_ = UniqueFd(ends[1]);
  network->Heal();
  network->thread_ = std::thread([wire = network.get()] { wire->Carry(); });
  return network;
}

absl::Status FaultyNetwork::AddMachine(int number) {
  machines_.push_back(std::make_unique<Machine>());
  Machine* const machine = machines_.back().get();
  machine->thread = std::thread([machine] { machine->Serve(); });
  absl::Status status;
  machine->Run([&] { status = MakeMachine(Address(number), &machine->tun); });
  return status;
}

FaultyNetwork::Machine::~Machine() {
  {
    MutexLock lock(&mu);
    closing = true;
    changed.NotifyAll();
  }
  thread.join();
}

void FaultyNetwork::Machine::Serve() {
  MutexLock lock(&mu);
  while (true) {
    while (!closing && work == nullptr) changed.Wait(&mu);
    if (closing) return;
    work();
    work = nullptr;
    changed.NotifyAll();
  }
}

void FaultyNetwork::Machine::Run(std::function<void()> next) {
  MutexLock lock(&mu);
  work = std::move(next);
  changed.NotifyAll();
  while (work != nullptr) changed.Wait(&mu);
}

FaultyNetwork::~FaultyNetwork() {
  if (!thread_.joinable()) return;
  CHECK(::write(wake_write_.get(), "x", 1) == 1);
  thread_.join();
}

std::string FaultyNetwork::Address(int machine) const {
  return absl::StrCat("10.77.0.", machine + 1);
}

void FaultyNetwork::RunOn(int machine, std::function<void()> work) {
  machines_[machine]->Run(std::move(work));
}

void FaultyNetwork::SetWeather(Weather weather) {
  MutexLock lock(&mu_);
  weather_ = weather;
}

void FaultyNetwork::Cut(int machine, bool sending, bool receiving) {
  MutexLock lock(&mu_);
  mute_[machine] = sending;
  deaf_[machine] = receiving;
}

void FaultyNetwork::Heal() {
  MutexLock lock(&mu_);
  weather_ = {};
  mute_.assign(machines_.size(), false);
  deaf_.assign(machines_.size(), false);
}

void FaultyNetwork::Carry() {
  std::vector<pollfd> waits;
  for (const auto& machine : machines_) waits.push_back({machine->tun.get(), POLLIN, 0});
  waits.push_back({wake_read_.get(), POLLIN, 0});
  while (true) {
    int timeout = -1;
    if (!on_the_way_.empty()) {
      const absl::Duration left = on_the_way_.top().due - absl::Now();
      timeout = static_cast<int>(std::max<int64_t>(0, absl::ToInt64Milliseconds(left) + 1));
    }
    if (::poll(waits.data(), waits.size(), timeout) < 0 && errno != EINTR) return;
    if (waits.back().revents != 0) return;
    for (size_t i = 0; i < machines_.size(); ++i) {
      if (waits[i].revents != 0) Take(static_cast<int>(i));
    }
    while (!on_the_way_.empty() && on_the_way_.top().due <= absl::Now()) {
      const Packet& packet = on_the_way_.top();
      // A full device drops, as wires do.
      const ssize_t written =
          ::write(machines_[packet.to]->tun.get(), packet.bytes.data(), packet.bytes.size());
      (written < 0 ? dropped_ : carried_) += 1;
      on_the_way_.pop();
    }
  }
}

void FaultyNetwork::Take(int from) {
  std::string bytes(kMaxPacket, '\0');
  while (true) {
    const ssize_t size = ::read(machines_[from]->tun.get(), bytes.data(), bytes.size());
    if (size <= 0) return;
    // IPv4 only: ignores what IPv6 announces on a new device.
    if (size < 20 || (bytes[0] & 0xf0) != 0x40) continue;
    const int to = static_cast<unsigned char>(bytes[kIpv4AddressOffset + 3]) - 1;
    if (to < 0 || to >= static_cast<int>(machines_.size()) || to == from) continue;
    MutexLock lock(&mu_);
    if (mute_[from] || deaf_[to] || rng_.NextDouble() < weather_.loss) {
      ++dropped_;
      continue;
    }
    on_the_way_.push(
        {absl::Now() + weather_.delay, number_++, to, bytes.substr(0, static_cast<size_t>(size))});
  }
}

}  // namespace ksearch
