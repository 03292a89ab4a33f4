#include "coordinator/service/access/connection_door.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/tcp.h>  // glibc's lacks tcpi_bytes_received
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/status_macros.h"

namespace ksearch {
namespace {

constexpr int kBacklog = 512;
constexpr int kTcpClosed = 7;  // TCP_CLOSE of the kernel's tcp_states.h
constexpr absl::Duration kLogEvery = absl::Seconds(1);
// When the process has no descriptor left, so that the loop does not spin.
constexpr int kPauseMillis = 50;

// SO_REUSEADDR: a restarted coordinator takes its port back at once; a second one still cannot,
// since a port that is listened on is refused all the same.
absl::StatusOr<UniqueFd> ListenOn(const addrinfo& address, int* port) {
  UniqueFd fd(::socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.ok()) return ErrnoStatus(errno, "socket");
  const int on = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (address.ai_family == AF_INET6) {
    ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  }
  sockaddr_storage where = {};
  std::copy_n(reinterpret_cast<const char*>(address.ai_addr), address.ai_addrlen,
              reinterpret_cast<char*>(&where));
  // The port has the same place in both families.
  reinterpret_cast<sockaddr_in*>(&where)->sin_port = htons(static_cast<uint16_t>(*port));
  if (::bind(fd.get(), reinterpret_cast<sockaddr*>(&where), address.ai_addrlen) != 0 ||
      ::listen(fd.get(), kBacklog) != 0) {
    return ErrnoStatus(errno, "listen");
  }
  socklen_t size = sizeof where;
  ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&where), &size);
  *port = ntohs(reinterpret_cast<sockaddr_in*>(&where)->sin_port);
  return fd;
}

// Bytes the peer has sent; nullopt if `fd` is not that connection any more.
std::optional<uint64_t> Received(int fd, ino_t inode) {
  struct stat facts;
  if (::fstat(fd, &facts) != 0 || facts.st_ino != inode || !S_ISSOCK(facts.st_mode)) {
    return std::nullopt;
  }
  tcp_info info = {};
  socklen_t size = sizeof info;
  if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return 0;
  if (info.tcpi_state == kTcpClosed) return std::nullopt;
  return info.tcpi_bytes_received;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ConnectionDoor>> ConnectionDoor::Listen(Options options) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int code = ::getaddrinfo(options.host.c_str(), "0", &hints, &found);
  if (code != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("no address for host ", options.host, ": ", ::gai_strerror(code)));
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> addresses(found, ::freeaddrinfo);
  std::vector<UniqueFd> listeners;
  int port = options.port;
  absl::Status last = absl::NotFoundError("no address");
  for (const addrinfo* address = found; address != nullptr; address = address->ai_next) {
    auto fd = ListenOn(*address, &port);
    if (fd.ok()) {
      listeners.push_back(*std::move(fd));
    } else if (absl::IsAlreadyExists(fd.status())) {
      return fd.status();
    } else {
      last = fd.status();  // a family this machine does not have, most likely
    }
  }
  if (listeners.empty()) return last;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return ErrnoStatus(errno, "pipe");
  return std::unique_ptr<ConnectionDoor>(new ConnectionDoor(
      std::move(options), std::move(listeners), port, UniqueFd(ends[0]), UniqueFd(ends[1])));
}

ConnectionDoor::ConnectionDoor(Options options, std::vector<UniqueFd> listeners, int port,
                               UniqueFd wake_read, UniqueFd wake_write)
    : options_(std::move(options)),
      listeners_(std::move(listeners)),
      port_(port),
      wake_read_(std::move(wake_read)),
      wake_write_(std::move(wake_write)) {}

ConnectionDoor::~ConnectionDoor() {
  if (!thread_.joinable()) return;
  // The pipe is empty until now, so this cannot fail.
  CHECK(::write(wake_write_.get(), "x", 1) == 1);
  thread_.join();
}

void ConnectionDoor::Open(Welcome welcome) {
  welcome_ = std::move(welcome);
  thread_ = std::thread([this] { Loop(); });
}

void ConnectionDoor::Loop() {
  std::vector<pollfd> waits;
  for (const UniqueFd& listener : listeners_) waits.push_back({listener.get(), POLLIN, 0});
  waits.push_back({wake_read_.get(), POLLIN, 0});
  while (true) {
    if (::poll(waits.data(), waits.size(), -1) < 0 && errno != EINTR) return;
    if (waits.back().revents != 0) return;
    for (const pollfd& wait : waits) {
      if ((wait.revents & POLLIN) == 0) continue;
      UniqueFd fd(::accept4(wait.fd, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (fd.ok()) {
        Admit(wait.fd, std::move(fd));
      } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        ::poll(&waits.back(), 1, kPauseMillis);
      }
    }
  }
}

void ConnectionDoor::Admit(int listener_fd, UniqueFd fd) {
  if (!MakeRoom()) {
    ++turned_away_;
    fd.Reset();
  }
  const absl::Time now = Clock::Real().SteadyNow();
  if (turned_away_ + made_room_ > 0 && now - last_log_ >= kLogEvery) {
    LOG(WARNING) << "msg=\"all connections are taken\" max_connections=" << options_.max_connections
                 << " turned_away=" << turned_away_ << " silent_ones_closed=" << made_room_;
    turned_away_ = made_room_ = 0;
    last_log_ = now;
  }
  struct stat facts;
  if (!fd.ok() || ::fstat(fd.get(), &facts) != 0) return;
  const int on = 1;
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  guests_.push_back({fd.get(), facts.st_ino, now});
  welcome_(listener_fd, std::move(fd));
}

bool ConnectionDoor::MakeRoom() {
  const size_t most = static_cast<size_t>(options_.max_connections);
  if (guests_.size() < most) return true;
  const absl::Time now = Clock::Real().SteadyNow();
  std::vector<Guest> present;
  const Guest* silent = nullptr;
  uint64_t fewest = 0;
  for (const Guest& guest : guests_) {
    const auto received = Received(guest.fd, guest.inode);
    if (!received.has_value()) continue;
    present.push_back(guest);
    if (now - guest.since < options_.grace) continue;
    if (silent == nullptr || *received < fewest) {
      silent = &guest;
      fewest = *received;
    }
  }
  const bool full = present.size() >= most;
  // The descriptor is gRPC's: it notices the end and closes it.
  if (full && silent != nullptr) {
    ::shutdown(silent->fd, SHUT_RDWR);
    std::erase_if(present, [silent](const Guest& guest) { return guest.inode == silent->inode; });
    ++made_room_;
  }
  const bool room = present.size() < most;
  guests_ = std::move(present);
  return room;
}

}  // namespace ksearch
