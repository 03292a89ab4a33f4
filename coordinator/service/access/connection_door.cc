#include "coordinator/service/access/connection_door.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/status_macros.h"

namespace ksearch {
namespace {

constexpr int kBacklog = 512;
// How often to look for closed connections while there is no room.
constexpr absl::Duration kLookEvery = absl::Milliseconds(100);
constexpr absl::Duration kLogEvery = absl::Seconds(1);
// The pause when the process has no descriptor left, so that the loop does not spin.
constexpr int kPauseMillis = 50;

// SO_REUSEADDR: a restarted coordinator gets its port back at once; a second coordinator still
// cannot take it, as the kernel refuses a port on which another socket listens.
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
  // The port is at the same offset in both families.
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

// Returns true if `fd` is still that connection.
bool IsPresent(int fd, ino_t inode) {
  struct stat facts;
  if (::fstat(fd, &facts) != 0 || facts.st_ino != inode || !S_ISSOCK(facts.st_mode)) return false;
  tcp_info info = {};
  socklen_t size = sizeof info;
  return ::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 || info.tcpi_state != TCP_CLOSE;
}

// "127.0.0.1" and "127.0.0.1:2345", "::1" and "[::1]:2345".
struct PeerName {
  std::string host, name;
};

PeerName NameOf(const sockaddr_storage& from) {
  char text[INET6_ADDRSTRLEN] = "";
  if (from.ss_family == AF_INET6) {
    const auto* six = reinterpret_cast<const sockaddr_in6*>(&from);
    ::inet_ntop(AF_INET6, &six->sin6_addr, text, sizeof text);
    return {text, absl::StrCat("[", text, "]:", ntohs(six->sin6_port))};
  }
  const auto* four = reinterpret_cast<const sockaddr_in*>(&from);
  ::inet_ntop(AF_INET, &four->sin_addr, text, sizeof text);
  return {text, absl::StrCat(text, ":", ntohs(four->sin_port))};
}

// The same name from gRPC's form, which escapes brackets and adds the interface to some addresses.
std::string NameOf(absl::string_view peer) {
  peer.remove_prefix(peer.find(':') == absl::string_view::npos ? 0 : peer.find(':') + 1);
  std::string name = absl::StrReplaceAll(peer, {{"%5B", "["}, {"%5D", "]"}});
  const size_t zone = name.find('%');
  if (zone != std::string::npos) name.erase(zone, name.find(']') - zone);
  return name;
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
  absl::Status last = absl::NotFoundError(absl::StrCat("no address for host ", options.host));
  for (const addrinfo* address = found; address != nullptr; address = address->ai_next) {
    auto fd = ListenOn(*address, &port);
    if (fd.ok()) {
      listeners.push_back(*std::move(fd));
    } else if (absl::IsAlreadyExists(fd.status())) {
      return fd.status();
    } else {
      last = fd.status();  // most likely, this machine lacks the address family
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

ConnectionDoor::~ConnectionDoor() { Close(); }

void ConnectionDoor::Close() {
  if (!thread_.joinable()) return;
  // The pipe is still empty, so this cannot fail.
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

void ConnectionDoor::MakeKnown(absl::string_view peer) {
  MutexLock lock(&mu_);
  const auto it = guests_.find(NameOf(peer));
  if (it != guests_.end()) it->second.known = true;
}

void ConnectionDoor::Admit(int listener_fd, UniqueFd fd) {
  const absl::Time now = Clock::Real().SteadyNow();
  sockaddr_storage from = {};
  socklen_t size = sizeof from;
  struct stat facts;
  if (::getpeername(fd.get(), reinterpret_cast<sockaddr*>(&from), &size) != 0 ||
      ::fstat(fd.get(), &facts) != 0) {
    return;  // gone already
  }
  const PeerName peer = NameOf(from);
  bool room;
  {
    MutexLock lock(&mu_);
    room = MakeRoom(now);
    if (room) guests_[peer.name] = {fd.get(), facts.st_ino, next_number_++, peer.host};
  }
  if (!room) ++turned_away_;
  LogCrowd(now);
  if (!room) return;
  const int on = 1;
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  welcome_(listener_fd, std::move(fd));
}

bool ConnectionDoor::MakeRoom(absl::Time now) {
  const size_t most = static_cast<size_t>(options_.max_connections);
  if (guests_.size() < most) return true;
  if (now - last_look_ >= kLookEvery) {
    last_look_ = now;
    DropClosedConnections();
    if (guests_.size() < most) return true;
  }
  absl::flat_hash_map<absl::string_view, int> strangers;
  for (const auto& [name, guest] : guests_) {
    if (!guest.known) ++strangers[guest.host];
  }
  auto first = guests_.end();
  int company = 0;
  for (auto it = guests_.begin(); it != guests_.end(); ++it) {
    if (it->second.known) continue;
    const int here = strangers[it->second.host];
    if (here < company) continue;
    if (here == company && it->second.number > first->second.number) continue;
    first = it;
    company = here;
  }
  if (first == guests_.end()) {
    DropClosedConnections();
    return guests_.size() < most;
  }
  // gRPC owns the descriptor: it notices the end and closes it.
  if (IsPresent(first->second.fd, first->second.inode)) {
    ::shutdown(first->second.fd, SHUT_RDWR);
    ++made_room_;
  }
  guests_.erase(first);
  return true;
}

void ConnectionDoor::DropClosedConnections() {
  absl::erase_if(guests_,
                 [](const auto& entry) { return !IsPresent(entry.second.fd, entry.second.inode); });
}

void ConnectionDoor::LogCrowd(absl::Time now) {
  if (turned_away_ + made_room_ == 0 || now - last_log_ < kLogEvery) return;
  LOG(WARNING) << "msg=\"all connections are taken\" max_connections=" << options_.max_connections
               << " turned_away=" << turned_away_ << " strangers_closed=" << made_room_;
  turned_away_ = made_room_ = 0;
  last_log_ = now;
}

}  // namespace ksearch
