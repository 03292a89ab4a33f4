#include "tests/fakes/fault_server.h"

#include <arpa/inet.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <list>
#include <thread>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "common/log.h"
#include "common/mutex.h"
#include "common/unique_fd.h"

namespace ksearch {
namespace {

// A key and a certificate for 127.0.0.1 that it signs itself.
void MakeSelfSigned(SSL_CTX* context, std::string* pem) {
  EVP_PKEY* const key = EVP_EC_gen("P-256");
  CHECK(key != nullptr);
  X509* const certificate = X509_new();
  X509_set_version(certificate, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
  X509_set_pubkey(certificate, key);
  X509_NAME* const name = X509_get_subject_name(certificate);
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>("127.0.0.1"), -1, -1, 0);
  X509_set_issuer_name(certificate, name);
  X509_EXTENSION* const alternative =
      X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, "IP:127.0.0.1");
  X509_add_ext(certificate, alternative, -1);
  X509_EXTENSION_free(alternative);
  CHECK(X509_sign(certificate, key, EVP_sha256()) > 0);
  CHECK(SSL_CTX_use_certificate(context, certificate) == 1);
  CHECK(SSL_CTX_use_PrivateKey(context, key) == 1);
  BIO* const bio = BIO_new(BIO_s_mem());
  PEM_write_bio_X509(bio, certificate);
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio, &text);
  *pem = std::string(text, static_cast<size_t>(size));
  BIO_free(bio);
  X509_free(certificate);
  EVP_PKEY_free(key);
}

}  // namespace

std::string HttpReply(int status, absl::string_view body, const std::vector<std::string>& headers) {
  std::string reply = absl::StrCat("HTTP/1.1 ", status, " Said\r\nContent-Length: ", body.size(),
                                   "\r\nConnection: close\r\n");
  for (const std::string& header : headers) absl::StrAppend(&reply, header, "\r\n");
  return absl::StrCat(reply, "\r\n", body);
}

std::string ChunkedStream(const std::vector<std::string>& pieces, bool cut) {
  std::string reply =
      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n"
      "Connection: close\r\n\r\n";
  for (const std::string& piece : pieces) {
    absl::StrAppendFormat(&reply, "%x\r\n%s\r\n", piece.size(), piece);
  }
  return cut ? reply : reply + "0\r\n\r\n";
}

class FaultServer::Impl {
 public:
  Impl(Script script, Tls tls) : script_(std::move(script)), tls_(tls) {
    if (tls == Tls::kSelfSigned) {
      context_ = SSL_CTX_new(TLS_server_method());
      MakeSelfSigned(context_, &certificate_);
    }
    listener_ = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    CHECK(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size) == 0);
    CHECK(::listen(listener_.get(), 512) == 0);
    CHECK(::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
    port_ = ntohs(address.sin_port);
    accepter_ = std::thread([this] { Accept(); });
  }

  ~Impl() {
    {
      MutexLock lock(&mu_);
      stopping_ = true;
      stopped_.NotifyAll();
      for (const auto& connection : connections_) ::shutdown(connection.fd.get(), SHUT_RDWR);
    }
    ::shutdown(listener_.get(), SHUT_RDWR);
    accepter_.join();
    for (auto& connection : connections_) connection.thread.join();
    SSL_CTX_free(context_);
  }

  std::string origin() const {
    return absl::StrCat(tls_ == Tls::kNone ? "http" : "https", "://127.0.0.1:", port_);
  }
  const std::string& certificate() const { return certificate_; }
  int requests() const { return requests_; }

 private:
  struct Connection {
    UniqueFd fd;
    std::thread thread;
    bool finished = false;
  };
  // Reads and writes, encrypted or not.
  struct Stream {
    int fd;
    SSL* ssl;
    bool Write(absl::string_view bytes) const {
      while (!bytes.empty()) {
        const ssize_t n = ssl == nullptr
                              ? ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL)
                              : SSL_write(ssl, bytes.data(), static_cast<int>(bytes.size()));
        if (n <= 0) return false;
        bytes.remove_prefix(static_cast<size_t>(n));
      }
      return true;
    }
    // False at the end of the connection.
    bool Read(std::string* into) const {
      char buffer[16384];
      const ssize_t n = ssl == nullptr ? ::recv(fd, buffer, sizeof(buffer), 0)
                                       : SSL_read(ssl, buffer, sizeof(buffer));
      if (n <= 0) return false;
      into->append(buffer, static_cast<size_t>(n));
      return true;
    }
  };

  void Accept() {
    while (true) {
      UniqueFd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      MutexLock lock(&mu_);
      if (stopping_) return;
      if (fd.get() < 0) continue;
      connections_.remove_if([](Connection& connection) {
        if (connection.finished) connection.thread.join();
        return connection.finished;
      });
      connections_.emplace_back();
      Connection& connection = connections_.back();
      connection.fd = std::move(fd);
      connection.thread = std::thread([this, &connection] { Serve(&connection); });
    }
  }

  void Serve(Connection* connection) {
    SSL* ssl = nullptr;
    bool open = true;
    if (context_ != nullptr) {
      ssl = SSL_new(context_);
      SSL_set_fd(ssl, connection->fd.get());
      open = SSL_accept(ssl) == 1;
    }
    if (open) Answer({connection->fd.get(), ssl});
    if (ssl != nullptr) SSL_free(ssl);
    // Unread input would turn the close into a reset.
    ::shutdown(connection->fd.get(), SHUT_RDWR);
    MutexLock lock(&mu_);
    connection->finished = true;
  }

  void Answer(const Stream& stream) {
    std::string request;
    while (tls_ != Tls::kSpeaksFirst && !Whole(request)) {
      if (!stream.Read(&request)) return;
    }
    const Fault fault = script_(request, requests_++);
    if (fault.silence > absl::ZeroDuration() && !WaitUnlessStopping(fault.silence)) return;
    if (!stream.Write(fault.bytes)) return;
    const std::string zeros(65536, '0');
    for (int64_t left = fault.padding_bytes; left > 0; left -= static_cast<int64_t>(zeros.size())) {
      if (!stream.Write(zeros)) return;
    }
    if (fault.hold) WaitUnlessStopping(absl::InfiniteDuration());
  }

  static bool Whole(const std::string& request) {
    const size_t head = request.find("\r\n\r\n");
    if (head == std::string::npos) return false;
    const size_t field = request.find("Content-Length: ");
    if (field == std::string::npos || field > head) return true;
    const size_t end = request.find("\r\n", field);
    size_t length = 0;
    CHECK(absl::SimpleAtoi(request.substr(field + 16, end - field - 16), &length));
    return request.size() >= head + 4 + length;
  }

  // Returns false if the server ended first.
  bool WaitUnlessStopping(absl::Duration duration) {
    const absl::Time end = absl::Now() + duration;
    MutexLock lock(&mu_);
    while (!stopping_) {
      const absl::Duration left = end - absl::Now();
      if (left <= absl::ZeroDuration()) return true;
      stopped_.WaitFor(&mu_, std::min(left, absl::Seconds(10)));
    }
    return false;
  }

  const Script script_;
  const Tls tls_;
  SSL_CTX* context_ = nullptr;
  std::string certificate_;
  UniqueFd listener_;
  uint16_t port_ = 0;
  std::atomic<int> requests_{0};
  Mutex mu_;
  CondVar stopped_;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::list<Connection> connections_;
  std::thread accepter_;
};

FaultServer::FaultServer(Script script, Tls tls)
    : impl_(std::make_unique<Impl>(std::move(script), tls)) {}
FaultServer::~FaultServer() = default;
std::string FaultServer::origin() const { return impl_->origin(); }
std::string FaultServer::certificate() const { return impl_->certificate(); }
int FaultServer::requests() const { return impl_->requests(); }

}  // namespace ksearch
