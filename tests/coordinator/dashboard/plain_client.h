#ifndef KSEARCH_TESTS_COORDINATOR_DASHBOARD_PLAIN_CLIENT_H_
#define KSEARCH_TESTS_COORDINATOR_DASHBOARD_PLAIN_CLIENT_H_

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/unique_fd.h"

namespace ksearch::dashboard {

// One connection to 127.0.0.1 that sends exactly the given bytes. Reads give up after 20 s.
class PlainClient {
 public:
  explicit PlainClient(int port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval limit = {20, 0};
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    connected_ =
        ::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  }

  bool connected() const { return connected_; }
  int fd() const { return fd_.get(); }

  bool Say(absl::string_view text) {
    while (!text.empty()) {
      const ssize_t sent = ::send(fd_.get(), text.data(), text.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      text.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }

  // Reads up to and including `end`; less if the connection ends.
  std::string ReadUntil(absl::string_view end) {
    for (;;) {
      const size_t at = read_.find(end.data(), 0, end.size());
      if (at != std::string::npos) return Take(at + end.size());
      if (!ReadMore()) return Take(read_.size());
    }
  }
  std::string ReadToEnd() {
    while (ReadMore()) {
    }
    return Take(read_.size());
  }
  // An answer with its headers and the body they announce.
  std::string ReadAnswer() {
    std::string answer = ReadUntil("\r\n\r\n");
    const std::string name = "Content-Length: ";
    const size_t at = answer.find(name);
    size_t length = 0;
    if (at != std::string::npos) {
      const size_t begin = at + name.size();
      if (!absl::SimpleAtoi(answer.substr(begin, answer.find('\r', begin) - begin), &length)) {
        return answer;
      }
    }
    while (read_.size() < length && ReadMore()) {
    }
    return answer + Take(length);
  }

  // One request with these header lines beside Host, and its answer.
  std::string Ask(absl::string_view method, absl::string_view target,
                  absl::string_view headers = "", absl::string_view body = "",
                  absl::string_view host = "localhost:1234") {
    Say(absl::StrCat(method, " ", target, " HTTP/1.1\r\nHost: ", host, "\r\n",
                     body.empty() ? "" : absl::StrCat("Content-Length: ", body.size(), "\r\n"),
                     headers, "\r\n", body));
    return ReadAnswer();
  }

 private:
  std::string Take(size_t count) {
    count = std::min(count, read_.size());
    std::string taken = read_.substr(0, count);
    read_.erase(0, count);
    return taken;
  }
  bool ReadMore() {
    char bytes[4096];
    const ssize_t count = ::recv(fd_.get(), bytes, sizeof(bytes), 0);
    if (count <= 0) return false;
    read_.append(bytes, static_cast<size_t>(count));
    return true;
  }

  UniqueFd fd_;
  bool connected_ = false;
  std::string read_;
};

}  // namespace ksearch::dashboard

#endif  // KSEARCH_TESTS_COORDINATOR_DASHBOARD_PLAIN_CLIENT_H_
