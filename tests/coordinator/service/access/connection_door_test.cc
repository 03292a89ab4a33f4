#include "coordinator/service/access/connection_door.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <vector>

#include "common/log.h"
#include "common/mutex.h"
#include "gtest/gtest.h"
#include "tests/fakes/eventually.h"

namespace ksearch {
namespace {

UniqueFd Dial(int port) {
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  CHECK(::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  return fd;
}

// Whether the other side has closed; waits for it.
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

// A door whose guests this test holds, as gRPC would.
class ConnectionDoorTest : public ::testing::Test {
 protected:
  void Start(int max_connections, absl::Duration grace) {
    ConnectionDoor::Options options;
    options.host = "127.0.0.1";
    options.max_connections = max_connections;
    options.grace = grace;
    auto door = ConnectionDoor::Listen(options);
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

TEST_F(ConnectionDoorTest, GuestOfManyWordsStaysWhenSilentOnesMakeRoom) {
  Start(2, absl::ZeroDuration());
  const UniqueFd talker = Dial(door_->port());
  ASSERT_TRUE(Guests(1));
  ASSERT_EQ(::write(talker.get(), "hello", 5), 5);
  const UniqueFd silent = Dial(door_->port());
  ASSERT_TRUE(Guests(2));
  const UniqueFd newcomer = Dial(door_->port());
  ASSERT_TRUE(Guests(3));
  EXPECT_TRUE(Closed(silent));
  EXPECT_TRUE(Open(talker));
  EXPECT_TRUE(Open(newcomer));
}

TEST_F(ConnectionDoorTest, NobodyIsPutOutWithinTheGraceTime) {
  Start(2, absl::Hours(1));
  const UniqueFd one = Dial(door_->port());
  const UniqueFd two = Dial(door_->port());
  ASSERT_TRUE(Guests(2));
  EXPECT_TRUE(Closed(Dial(door_->port())));
  EXPECT_TRUE(Open(one));
  EXPECT_TRUE(Open(two));
}

TEST_F(ConnectionDoorTest, PlaceOfWhoLeftIsFree) {
  Start(1, absl::Hours(1));
  for (int i = 0; i < 5; ++i) {
    const UniqueFd guest = Dial(door_->port());
    ASSERT_TRUE(Guests(1)) << i;
    MutexLock lock(&mu_);
    guests_.clear();  // the next one gets the same descriptor number
  }
}

TEST_F(ConnectionDoorTest, SecondDoorOnThePortIsRefused) {
  Start(1, absl::Hours(1));
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
