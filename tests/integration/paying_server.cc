#include "tests/integration/paying_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace ksearch {
namespace {

// Returns false if the peer is gone.
bool SendAll(int socket, const std::string& bytes) {
  size_t sent = 0;
  while (sent < bytes.size()) {
    const ssize_t n = ::send(socket, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (n <= 0) return false;
    sent += static_cast<size_t>(n);
  }
  return true;
}

// The body of the connection's one request; empty if the peer disconnected first.
std::string ReadBody(int socket) {
  std::string bytes;
  char buffer[65536];
  size_t end = std::string::npos;
  size_t length = 0;
  while (true) {
    if (end == std::string::npos && (end = bytes.find("\r\n\r\n")) != std::string::npos) {
      const std::string head = absl::AsciiStrToLower(bytes.substr(0, end));
      const size_t at = head.find("content-length:");
      if (at == std::string::npos) return "";
      const size_t begin = at + 15;
      if (!absl::SimpleAtoi(head.substr(begin, head.find("\r\n", begin) - begin), &length)) {
        return "";
      }
    }
    if (end != std::string::npos && bytes.size() >= end + 4 + length) {
      return bytes.substr(end + 4, length);
    }
    const ssize_t n = ::recv(socket, buffer, sizeof buffer, 0);
    if (n <= 0) return "";
    bytes.append(buffer, static_cast<size_t>(n));
  }
}

}  // namespace

PayingServer::PayingServer(std::function<std::string(const std::string& body)> reply, Hook hook)
    : reply_(std::move(reply)),
      hook_(std::move(hook)),
      listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::listen(listener_.get(), 16) != 0 ||
      ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    std::abort();
  }
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { Serve(); });
}

PayingServer::~PayingServer() {
  ::shutdown(listener_.get(), SHUT_RDWR);  // ends accept
  thread_.join();
}

std::string PayingServer::url() const { return absl::StrCat("http://127.0.0.1:", port_, "/v1"); }

std::map<std::string, int> PayingServer::requests() const {
  MutexLock lock(&mu_);
  return requests_;
}

void PayingServer::Serve() {
  while (true) {
    const UniqueFd connection(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!connection.ok()) return;
    Answer(connection.get());
  }
}

void PayingServer::Answer(int connection) {
  const std::string request = ReadBody(connection);
  if (request.empty()) return;
  const std::string body = reply_(request);
  const std::string answer =
      body.empty() ? "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                   : absl::StrCat(
                         "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                         "Connection: close\r\nContent-Length: ",
                         body.size(), "\r\n\r\n", body);
  if (body.empty()) {
    SendAll(connection, answer);
    return;
  }
  {
    MutexLock lock(&mu_);
    ++requests_[request];
  }
  hook_(Moment::kReceived);
  if (!SendAll(connection, answer.substr(0, answer.size() / 2))) return;
  hook_(Moment::kHalf);
  if (!SendAll(connection, answer.substr(answer.size() / 2))) return;
  hook_(Moment::kReplied);
}

}  // namespace ksearch
