#include "coordinator/service/access/connection_door.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <vector>

#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "common/mutex.h"
#include "gtest/gtest.h"
#include "tests/fakes/eventually.h"

namespace ksearch {
namespace {

UniqueFd Dial(int port, const char* from = "127.0.0.1") {
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  CHECK(::inet_pton(AF_INET, from, &address.sin_addr) == 1);
  CHECK(::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  CHECK(::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  return fd;
}

int PortOf(const UniqueFd& fd) {
  sockaddr_storage address = {};
  socklen_t size = sizeof address;
  CHECK(::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
  // The port is at the same offset in both families.
  return ntohs(reinterpret_cast<sockaddr_in*>(&address)->sin_port);
}

// Returns true if the other side has closed; waits for it.
bool Closed(const UniqueFd& fd) {
  return Eventually([&] {
    pollfd wait = {fd.get(), POLLIN, 0};
    char byte;
    return ::poll(&wait, 1, 0) == 1 && ::read(fd.get(), &byte, 1) <= 0;
  });
}
bool Open(const UniqueFd& fd) {
  pollfd wait = {fd.get(), POLLIN, 0};
  return ::poll(&wait, 1, 0) == 0;
}

// A door whose connections this test holds, as gRPC would.
class ConnectionDoorTest : public ::testing::Test {
 protected:
  void Start(int max_connections, const std::string& host = "127.0.0.1") {
    ConnectionDoor::Options options;
    options.host = host;
    options.max_connections = max_connections;
    auto door = ConnectionDoor::Listen(options);
    if (!door.ok() && host == "::1") return;
    ASSERT_TRUE(door.ok()) << door.status();
    door_ = *std::move(door);
    door_->Open([this](int, UniqueFd fd) {
      MutexLock lock(&mu_);
      guests_.push_back(std::move(fd));
    });
  }
  bool Guests(size_t count) {
    return Eventually([&] {
      MutexLock lock(&mu_);
      return guests_.size() == count;
    });
  }

  Mutex mu_;
  std::vector<UniqueFd> guests_ ABSL_GUARDED_BY(mu_);
  std::unique_ptr<ConnectionDoor> door_;
};

TEST_F(ConnectionDoorTest, StrangerWhoCameFirstMakesRoomAndTheKnownStay) {
  Start(3);
  const UniqueFd known = Dial(door_->port());
  ASSERT_TRUE(Guests(1));
  door_->MakeKnown(absl::StrCat("ipv4:127.0.0.1:", PortOf(known)));
  const UniqueFd first = Dial(door_->port());
  ASSERT_TRUE(Guests(2));
  const UniqueFd second = Dial(door_->port());
  ASSERT_TRUE(Guests(3));
  const UniqueFd newcomer = Dial(door_->port());
  ASSERT_TRUE(Guests(4));
  EXPECT_TRUE(Closed(first));
  EXPECT_TRUE(Open(known));
  EXPECT_TRUE(Open(second));
  EXPECT_TRUE(Open(newcomer));
}

TEST_F(ConnectionDoorTest, AddressWithMostStrangersMakesRoom) {
  Start(3);
  const UniqueFd lone = Dial(door_->port(), "127.0.0.2");
  ASSERT_TRUE(Guests(1));
  const UniqueFd first = Dial(door_->port());
  ASSERT_TRUE(Guests(2));
  const UniqueFd second = Dial(door_->port());
  ASSERT_TRUE(Guests(3));
  const UniqueFd third = Dial(door_->port());
  ASSERT_TRUE(Guests(4));
  EXPECT_TRUE(Closed(first));
  EXPECT_TRUE(Open(lone)) << "though it came before";
}

TEST_F(ConnectionDoorTest, NobodyKnownIsPutOut) {
  Start(2);
  const UniqueFd one = Dial(door_->port());
  const UniqueFd two = Dial(door_->port());
  ASSERT_TRUE(Guests(2));
  for (const UniqueFd* fd : {&one, &two}) {
    door_->MakeKnown(absl::StrCat("ipv4:127.0.0.1:", PortOf(*fd)));
  }
  EXPECT_TRUE(Closed(Dial(door_->port())));
  EXPECT_TRUE(Open(one));
  EXPECT_TRUE(Open(two));
}

TEST_F(ConnectionDoorTest, KnowsGrpcsWayOfWritingSixthVersionAddresses) {
  Start(1, "::1");
  if (door_ == nullptr) GTEST_SKIP() << "no IPv6 loopback on this machine";
  const UniqueFd fd(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in6 to = {};
  to.sin6_family = AF_INET6;
  to.sin6_port = htons(static_cast<uint16_t>(door_->port()));
  to.sin6_addr = in6addr_loopback;
  ASSERT_EQ(::connect(fd.get(), reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
  ASSERT_TRUE(Guests(1));
  door_->MakeKnown(absl::StrCat("ipv6:%5B::1%5D:", PortOf(fd)));
  const UniqueFd newcomer(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::connect(newcomer.get(), reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
  EXPECT_TRUE(Closed(newcomer));
  EXPECT_TRUE(Open(fd));
}

TEST_F(ConnectionDoorTest, PlaceOfWhoLeftIsFree) {
  Start(1);
  for (int i = 0; i < 5; ++i) {
    const UniqueFd guest = Dial(door_->port());
    ASSERT_TRUE(Guests(1)) << i;
    MutexLock lock(&mu_);
    guests_.clear();  // the next one gets the same descriptor number
  }
}

TEST_F(ConnectionDoorTest, SecondDoorOnThePortIsRefused) {
  Start(1);
  ConnectionDoor::Options options;
  options.host = "127.0.0.1";
  options.port = door_->port();
  EXPECT_TRUE(absl::IsAlreadyExists(ConnectionDoor::Listen(options).status()));
  const int port = door_->port();
  door_.reset();
  options.port = port;
  EXPECT_TRUE(ConnectionDoor::Listen(options).ok());
}

TEST_F(ConnectionDoorTest, UnknownHostIsNamed) {
  ConnectionDoor::Options options;
  options.host = "no-such-host.invalid";
  const absl::Status status = ConnectionDoor::Listen(options).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_NE(std::string(status.message()).find("no-such-host.invalid"), std::string::npos);
}

}  // namespace
}  // namespace ksearch
