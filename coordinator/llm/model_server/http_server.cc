#include "coordinator/llm/model_server/http_server.h"

#include <sys/socket.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <list>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/mutex.h"

namespace ksearch {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using tcp = asio::ip::tcp;

constexpr uint64_t kMaxRequestBytes = uint64_t{64} << 20;
constexpr size_t kMaxConnections = 512;

template <typename Text>
std::string ToString(const Text& text) {
  return std::string(text.data(), text.size());
}

EndpointRequest FromBeast(http::request<http::string_body> message) {
  EndpointRequest request;
  request.method = ToString(message.method_string());
  request.target = ToString(message.target());
  for (const auto& field : message) {
    request.headers[absl::AsciiStrToLower(ToString(field.name_string()))] = ToString(field.value());
  }
  request.body = std::move(message.body());
  return request;
}

http::response<http::string_body> ToBeast(EndpointResponse answer, unsigned version,
                                          bool keep_alive) {
  http::response<http::string_body> message;
  message.version(version);
  message.result(static_cast<unsigned>(answer.status));
  message.set(http::field::content_type, "application/json");
  for (const auto& [name, value] : answer.headers) message.set(name, value);
  message.keep_alive(keep_alive);
  message.body() = std::move(answer.body);
  message.prepare_payload();
  return message;
}

}  // namespace

class HttpServer::Impl {
 public:
  explicit Impl(Answer answer) : answer_(std::move(answer)), acceptor_(context_) {}

  ~Impl() {
    {
      MutexLock lock(&mu_);
      stopping_ = true;
      changed_.NotifyAll();
      for (Connection& connection : connections_) {
        ::shutdown(connection.socket.native_handle(), SHUT_RDWR);
      }
    }
    if (acceptor_.is_open()) ::shutdown(acceptor_.native_handle(), SHUT_RDWR);
    if (accept_thread_.joinable()) accept_thread_.join();
    for (Connection& connection : connections_) connection.thread.join();
  }

  absl::Status Listen(uint16_t port) {
    const tcp::endpoint endpoint(asio::ip::address_v4::loopback(), port);
    beast::error_code error;
    acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (error) {
      return absl::UnavailableError(
          absl::StrCat("cannot listen on 127.0.0.1:", port, ": ", error.message()));
    }
    port_ = acceptor_.local_endpoint().port();
    accept_thread_ = std::thread([this] { Accept(); });
    return absl::OkStatus();
  }

  uint16_t port() const { return port_; }

 private:
  struct Connection {
    explicit Connection(tcp::socket accepted) : socket(std::move(accepted)) {}
    tcp::socket socket;
    std::thread thread;
    bool finished = false;
  };

  void Accept() {
    for (;;) {
      beast::error_code error;
      tcp::socket socket(context_);
      acceptor_.accept(socket, error);
      MutexLock lock(&mu_);
      if (stopping_) return;
      // The only place that grows the list also prunes it; a finished thread joins at once.
      connections_.remove_if([](Connection& connection) {
        if (connection.finished) connection.thread.join();
        return connection.finished;
      });
      if (error) {
        LOG(WARNING) << "msg=\"accept failed\" error=\"" << error.message() << "\"";
        changed_.WaitFor(&mu_, absl::Milliseconds(100));  // out of descriptors, most likely
        continue;
      }
      if (connections_.size() >= kMaxConnections) continue;  // closes the new connection
      Connection& connection = connections_.emplace_back(std::move(socket));
      connection.thread = std::thread([this, &connection] {
        Serve(connection.socket);
        MutexLock finished_lock(&mu_);
        beast::error_code ignored;
        connection.socket.close(ignored);
        connection.finished = true;
      });
    }
  }

  void Serve(tcp::socket& socket) {
    beast::error_code error;
    socket.set_option(tcp::no_delay(true), error);
    beast::flat_buffer buffer;
    for (;;) {
      http::request_parser<http::string_body> parser;
      parser.body_limit(kMaxRequestBytes);
      http::read(socket, buffer, parser, error);
      if (error) {
        if (error != http::error::end_of_stream && !Stopping()) {
          LOG(DEBUG) << "msg=\"connection ended\" error=\"" << error.message() << "\"";
        }
        return;
      }
      const unsigned version = parser.get().version();
      const bool keep_alive = parser.get().keep_alive();
      EndpointResponse answer = answer_(FromBeast(parser.release()));
      if (!Sleep(answer.delay)) return;
      http::write(socket, ToBeast(std::move(answer), version, keep_alive), error);
      if (error || !keep_alive) return;
    }
  }

  bool Stopping() {
    MutexLock lock(&mu_);
    return stopping_;
  }

  // Returns false if the server stops first.
  bool Sleep(absl::Duration delay) {
    const absl::Time end = Clock::Real().SteadyNow() + delay;
    MutexLock lock(&mu_);
    for (;;) {
      const absl::Duration left = end - Clock::Real().SteadyNow();
      if (stopping_ || left <= absl::ZeroDuration()) return !stopping_;
      changed_.WaitFor(&mu_, left);
    }
  }

  const Answer answer_;
  asio::io_context context_;
  tcp::acceptor acceptor_;
  uint16_t port_ = 0;
  std::thread accept_thread_;

  Mutex mu_;
  CondVar changed_;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  // Grows and shrinks on the accept thread only, under mu_; the destructor joins that thread first.
  std::list<Connection> connections_;
};

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() = default;

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(uint16_t port, Answer answer) {
  auto impl = std::make_unique<Impl>(std::move(answer));
  const absl::Status listening = impl->Listen(port);
  if (!listening.ok()) return listening;
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

uint16_t HttpServer::port() const { return impl_->port(); }

}  // namespace ksearch
