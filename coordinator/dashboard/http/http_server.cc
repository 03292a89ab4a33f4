#include "coordinator/dashboard/http/http_server.h"

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <deque>
#include <optional>
#include <set>
#include <thread>
#include <utility>  // Beast 1.74 needs it and does not include it

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "common/mutex.h"

namespace ksearch::dashboard {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using tcp = asio::ip::tcp;

constexpr auto kAfterFailedAccept = std::chrono::milliseconds(100);
constexpr auto kLinger = std::chrono::seconds(2);
constexpr size_t kIgnoredBytes = 4096;

template <typename Text>
std::string ToString(const Text& text) {
  return std::string(text.data(), text.size());
}

// Sent with every answer. Scripts and styles come from this server alone, no page may frame or
// embed it, and browsers must not guess another content type.
constexpr std::pair<const char*, const char*> kSecurityHeaders[] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
     "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
};

template <typename Body>
void SetHeaders(const HttpAnswer& answer, http::response<Body>* response) {
  response->result(static_cast<unsigned>(answer.status));
  response->set(http::field::content_type, answer.content_type);
  for (const auto& [name, value] : kSecurityHeaders) response->set(name, value);
  response->set(http::field::cache_control, "no-store");
  for (const auto& [name, value] : answer.headers) response->set(name, value);
}

}  // namespace

class HttpServer::Impl {
 public:
  Impl(Options options, Answer answer)
      : options_(std::move(options)),
        answer_(std::move(answer)),
        acceptor_(context_),
        rest_(context_),
        pool_(static_cast<size_t>(options_.answering_threads)) {}

  ~Impl() { Stop(); }

  absl::Status Listen() {
    beast::error_code error;
    const auto address = asio::ip::make_address(options_.host, error);
    if (error) {
      return absl::InvalidArgumentError(absl::StrCat(
          "'", options_.host, "' is not an IP address; 127.0.0.1 is this machine's own"));
    }
    const tcp::endpoint endpoint(address, static_cast<uint16_t>(options_.port));
    acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (error == asio::error::address_in_use) {
      return absl::AlreadyExistsError(
          absl::StrCat("port ", options_.port, " of ", options_.host, " is taken"));
    }
    if (error) {
      return absl::InvalidArgumentError(
          absl::StrCat("cannot listen on ", options_.host, ": ", error.message()));
    }
    port_ = acceptor_.local_endpoint().port();
    Accept();
    thread_ = std::thread([this] { context_.run(); });
    return absl::OkStatus();
  }

  void Stop() {
    MutexLock lock(&stop_mu_);
    if (stopped_) return;
    stopped_ = true;
    pool_.join();  // waits for answers in progress; posting them is harmless
    asio::post(context_, [this] {
      beast::error_code ignored;
      acceptor_.close(ignored);
      rest_.cancel();
      const auto open = connections_;  // closing takes them out
      for (Connection* connection : open) connection->Shut();
      context_.stop();
    });
    if (thread_.joinable()) thread_.join();
  }

  int port() const { return port_; }

 private:
  // One connection: reads requests and answers them in turn. Lives as long as one of its own
  // operations, or an owner of its stream, holds it. Except for Send and closed, everything runs on
  // the server's thread.
  class Connection final : public EventStream, public std::enable_shared_from_this<Connection> {
   public:
    Connection(Impl* server, tcp::socket socket) : server_(server), stream_(std::move(socket)) {
      server_->connections_.insert(this);
    }
    ~Connection() override {
      if (!over_) server_->connections_.erase(this);
    }

    void Read() {
      parser_.emplace();
      parser_->header_limit(static_cast<uint32_t>(server_->options_.max_header_bytes));
      parser_->body_limit(server_->options_.max_body_bytes);
      stream_.expires_after(absl::ToChronoNanoseconds(server_->options_.patience));
      http::async_read(
          stream_, buffer_, *parser_,
          [self = shared_from_this()](beast::error_code error, size_t) { self->OnRead(error); });
    }

    bool Send(std::shared_ptr<const std::string> bytes) override {
      if (closed_) return false;
      const size_t limit = server_->options_.max_stream_backlog_bytes;
      if (backlog_.fetch_add(bytes->size()) + bytes->size() > limit) {
        closed_ = true;  // the reader is too slow
        asio::post(server_->context_, [self = shared_from_this()] { self->Shut(); });
        return false;
      }
      asio::post(server_->context_, [self = shared_from_this(), bytes = std::move(bytes)] {
        self->waiting_.push_back(bytes);
        self->WriteNext();
      });
      return true;
    }
    bool closed() const override { return closed_; }
    void Close() override {
      asio::post(server_->context_, [self = shared_from_this()] {
        self->last_ = true;
        self->WriteNext();
      });
    }

    // Closes the connection now.
    void Shut() {
      closed_ = true;
      if (over_) return;
      over_ = true;
      server_->connections_.erase(this);
      if (is_stream_) --server_->streams_;
      waiting_.clear();
      beast::error_code ignored;
      stream_.socket().shutdown(tcp::socket::shutdown_both, ignored);
      stream_.close();
    }

   private:
    void OnRead(beast::error_code error) {
      if (over_) return;
      keep_alive_ = false;
      version_ = 11;
      if (error == http::error::body_limit) {
        return Give(ErrorAnswer(413, absl::StrCat("the request's body is larger than ",
                                                  server_->options_.max_body_bytes, " bytes")));
      }
      if (error == http::error::header_limit) {
        return Give(ErrorAnswer(431, absl::StrCat("the request's headers are larger than ",
                                                  server_->options_.max_header_bytes, " bytes")));
      }
      if (error.category() == beast::error_code(http::error::bad_version).category() &&
          error != http::error::end_of_stream && error != http::error::partial_message) {
        return Give(ErrorAnswer(400, "the request is not HTTP/1.1"));
      }
      if (error) return Shut();  // the peer disconnected, or took too long
      http::request<http::string_body> message = parser_->release();
      keep_alive_ = message.keep_alive();
      version_ = message.version();
      HttpRequest request;
      request.method = ToString(message.method_string());
      for (const auto& field : message) {
        // The first of repeated headers counts, so that a proxy's check cannot be bypassed.
        request.headers.emplace(absl::AsciiStrToLower(ToString(field.name_string())),
                                ToString(field.value()));
      }
      if (message.count(http::field::host) > 1 || message.count("Origin") > 1) {
        return Give(ErrorAnswer(400, "the request has two Host or Origin headers"));
      }
      const absl::Status target = ParseTarget(ToString(message.target()), &request);
      if (!target.ok()) return Give(ErrorAnswer(target));
      request.body = std::move(message.body());
      asio::post(server_->pool_, [self = shared_from_this(), request = std::move(request)] {
        HttpAnswer answer = self->server_->answer_(request);
        auto give = [self, answer = std::move(answer)]() mutable { self->Give(std::move(answer)); };
        asio::post(self->server_->context_, std::move(give));
      });
    }

    void Give(HttpAnswer answer) {
      if (over_) return;
      if (answer.stream != nullptr) {
        if (server_->streams_ < server_->options_.max_streams) return BeginStream(answer);
        answer = ErrorAnswer(503, absl::StrCat("there are ", server_->options_.max_streams,
                                               " open pages already: close one"));
      }
      response_.emplace();
      response_->version(version_);
      SetHeaders(answer, &*response_);
      response_->keep_alive(keep_alive_);
      body_ =
          answer.body != nullptr ? std::move(answer.body) : std::make_shared<const std::string>();
      response_->body() = beast::span<const char>(body_->data(), body_->size());
      response_->prepare_payload();
      stream_.expires_after(absl::ToChronoNanoseconds(server_->options_.patience));
      http::async_write(stream_, *response_,
                        [self = shared_from_this()](beast::error_code error, size_t) {
                          if (self->over_) return;
                          self->response_.reset();
                          self->body_.reset();
                          if (error) return self->Shut();
                          if (!self->keep_alive_) return self->Linger();
                          self->Read();
                        });
    }

    // Reads what the peer is still sending: closing at once would reset the connection and lose the
    // answer.
    void Linger() {
      beast::error_code ignored;
      stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
      stream_.expires_after(kLinger);
      NoticeLeaving();
    }

    // The answer has no length: it ends with the connection.
    void BeginStream(const HttpAnswer& answer) {
      is_stream_ = true;
      ++server_->streams_;
      http::response<http::empty_body> head;
      head.version(11);
      SetHeaders(answer, &head);
      head.keep_alive(false);
      std::string text = absl::StrCat("HTTP/1.1 ", answer.status, " OK\r\n");
      for (const auto& field : head) {
        absl::StrAppend(&text, ToString(field.name_string()), ": ", ToString(field.value()),
                        "\r\n");
      }
      text += "\r\n";
      backlog_ += text.size();
      waiting_.push_back(std::make_shared<const std::string>(std::move(text)));
      WriteNext();
      stream_.expires_never();
      NoticeLeaving();
      asio::post(server_->pool_,
                 [self = shared_from_this(), begin = answer.stream] { begin(self); });
    }

    // Ignores what the peer sends; its end of stream closes the connection.
    void NoticeLeaving() {
      stream_.async_read_some(asio::buffer(ignored_input_),
                              [self = shared_from_this()](beast::error_code error, size_t) {
                                if (error) return self->Shut();
                                self->NoticeLeaving();
                              });
    }

    void WriteNext() {
      if (over_ || writing_) return;
      if (waiting_.empty()) {
        if (last_) Shut();
        return;
      }
      writing_ = true;
      const std::shared_ptr<const std::string> bytes = waiting_.front();
      waiting_.pop_front();
      // A deadline for the write only: the pending read, which notices a disconnect, keeps having
      // none.
      stream_.expires_after(absl::ToChronoNanoseconds(server_->options_.patience));
      asio::async_write(stream_, asio::buffer(*bytes),
                        [self = shared_from_this(), bytes](beast::error_code error, size_t) {
                          self->writing_ = false;
                          self->backlog_ -= bytes->size();
                          if (error) return self->Shut();
                          self->WriteNext();
                        });
    }

    Impl* const server_;
    beast::tcp_stream stream_;
    beast::flat_buffer buffer_;
    std::optional<http::request_parser<http::string_body>> parser_;
    std::optional<http::response<http::span_body<const char>>> response_;
    std::shared_ptr<const std::string> body_;  // of response_
    bool keep_alive_ = false;
    unsigned version_ = 11;
    bool over_ = false;
    // For a stream:
    bool is_stream_ = false;
    bool writing_ = false;
    bool last_ = false;
    std::deque<std::shared_ptr<const std::string>> waiting_;
    char ignored_input_[kIgnoredBytes];
    std::atomic<size_t> backlog_{0};  // bytes that wait or are being written
    std::atomic<bool> closed_{false};
  };

  void Accept() {
    acceptor_.async_accept([this](beast::error_code error, tcp::socket socket) {
      if (!acceptor_.is_open()) return;
      if (error) {
        LOG(WARNING) << "msg=\"the page's server cannot accept\" error=\"" << error.message()
                     << "\"";
        rest_.expires_after(kAfterFailedAccept);  // out of descriptors, most likely
        rest_.async_wait([this](beast::error_code cancelled) {
          if (!cancelled) Accept();
        });
        return;
      }
      if (connections_.size() < options_.max_connections) {
        beast::error_code ignored;
        socket.set_option(tcp::no_delay(true), ignored);
        std::make_shared<Connection>(this, std::move(socket))->Read();
      }
      Accept();
    });
  }

  const Options options_;
  const Answer answer_;
  int port_ = 0;

  // Used on the server's thread. Before context_, whose end destroys connections that wait in it.
  std::set<Connection*> connections_;
  size_t streams_ = 0;

  asio::io_context context_{1};
  tcp::acceptor acceptor_;
  asio::steady_timer rest_;
  asio::thread_pool pool_;
  std::thread thread_;

  Mutex stop_mu_;
  bool stopped_ ABSL_GUARDED_BY(stop_mu_) = false;
};

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() = default;

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(Options options, Answer answer) {
  auto impl = std::make_unique<Impl>(std::move(options), std::move(answer));
  const absl::Status listening = impl->Listen();
  if (!listening.ok()) return listening;
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

void HttpServer::Stop() { impl_->Stop(); }
int HttpServer::port() const { return impl_->port(); }

}  // namespace ksearch::dashboard
