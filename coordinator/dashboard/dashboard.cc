#include "coordinator/dashboard/dashboard.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/status_macros.h"
#include "coordinator/dashboard/asset.h"
#include "proto/access.pb.h"

namespace ksearch::dashboard {
namespace {

constexpr absl::string_view kApi = "/api/v1/";
constexpr absl::string_view kService = "ksearch.v1.SearchService";
constexpr size_t kMaxRunIdBytes = 64;

// 127.0.0.0/8 or ::1, which packets of other machines cannot reach.
bool IsLoopback(absl::string_view host) {
  return host == "localhost" || host == "::1" || absl::StartsWith(host, "127.");
}

absl::StatusOr<HttpServer::Options> ServerOptions(const std::string& address) {
  const size_t colon = address.rfind(':');
  HttpServer::Options options;
  if (colon == std::string::npos || colon == 0 ||
      !absl::SimpleAtoi(address.substr(colon + 1), &options.port) || options.port < 0 ||
      options.port > 65535) {
    return absl::InvalidArgumentError(
        absl::StrCat("the page's address '", address, "' must be IP:PORT, e.g. 127.0.0.1:7480"));
  }
  absl::string_view host = absl::string_view(address).substr(0, colon);
  if (absl::ConsumePrefix(&host, "[")) absl::ConsumeSuffix(&host, "]");
  if (!IsLoopback(host)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the page's address '", address,
        "' is not this machine's own: the page is served without encryption, so it listens on "
        "127.0.0.1 or [::1] only. From elsewhere reach it through `ssh -L` or a proxy with TLS "
        "(docs/dashboard.md)"));
  }
  options.host = host == "localhost" ? "127.0.0.1" : std::string(host);
  return options;
}

// The method of that name; null: there is none.
const google::protobuf::MethodDescriptor* FindMethod(absl::string_view name) {
  const google::protobuf::ServiceDescriptor* const service =
      v1::ListRunsRequest::descriptor()->file()->pool()->FindServiceByName(std::string(kService));
  return service == nullptr ? nullptr : service->FindMethodByName(std::string(name));
}

bool Reads(const google::protobuf::MethodDescriptor& method) {
  return method.options().GetExtension(v1::needs) == v1::ROLE_READ;
}

std::string QueryAsJson(const std::map<std::string, std::string>& query) {
  std::string json = "{";
  for (const auto& [name, value] : query) {
    const bool literal = value == "true" || value == "false";
    absl::StrAppend(&json, json.size() > 1 ? "," : "", JsonString(name), ":",
                    literal ? value : JsonString(value));
  }
  return json + "}";
}

// Returns true if "gzip, deflate" or the like names gzip, without a weight: browsers give none.
bool TakesGzip(const HttpRequest& request) {
  for (const absl::string_view coding : absl::StrSplit(request.Header("accept-encoding"), ',')) {
    if (absl::StripAsciiWhitespace(coding) == "gzip") return true;
  }
  return false;
}

HttpAnswer AssetAnswer(const HttpRequest& request, const Asset& asset) {
  HttpAnswer answer;
  const bool gzip = TakesGzip(request);
  const std::string tag = absl::StrCat("\"", AssetsVersion(), gzip ? "-gzip" : "", "\"");
  answer.headers.emplace_back("ETag", tag);
  answer.headers.emplace_back("Cache-Control", "no-cache");  // keep, but revalidate
  answer.headers.emplace_back("Vary", "Accept-Encoding");
  answer.content_type = std::string(asset.content_type);
  if (request.Header("if-none-match") == tag) {
    answer.status = 304;
  } else {
    if (gzip) answer.headers.emplace_back("Content-Encoding", "gzip");
    answer.body = std::make_shared<const std::string>(gzip ? asset.gzip : asset.content);
  }
  return answer;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Dashboard>> Dashboard::Start(const Options& options, Parts parts) {
  ASSIGN_OR_RETURN(HttpServer::Options server_options, ServerOptions(options.listen_address));
  const std::string host = server_options.host;
  auto dashboard = std::unique_ptr<Dashboard>(new Dashboard(options, std::move(parts)));
  auto server = HttpServer::Start(std::move(server_options),
                                  [dashboard = dashboard.get()](const HttpRequest& request) {
                                    return dashboard->Answer(request);
                                  });
  if (!server.ok()) {
    return absl::Status(
        server.status().code(),
        absl::StrCat("cannot serve the page at ", options.listen_address, ": ",
                     server.status().message(),
                     ". Give another with --dashboard, e.g. --dashboard 127.0.0.1:0 for any free "
                     "port"));
  }
  dashboard->server_ = *std::move(server);
  const bool ipv6 = absl::StrContains(host, ":");
  dashboard->url_ = absl::StrCat("http://", ipv6 ? "[" : "", host, ipv6 ? "]" : "", ":",
                                 dashboard->server_->port(), "/");
  return dashboard;
}

Dashboard::Dashboard(const Options& options, Parts parts)
    : parts_(std::move(parts)),
      guard_(options.allowed_hosts),
      memo_({}, parts_.clock),
      streams_({}, parts_.feed, parts_.read_events, parts_.newest_cursor,
               parts_.access.still_good) {}

Dashboard::~Dashboard() {
  // Stops before the streams that it carries; the object lives until they have released it.
  if (server_ != nullptr) server_->Stop();
}

HttpAnswer Dashboard::Answer(const HttpRequest& request) {
  const absl::Status ours = guard_.Check(request);
  HttpAnswer answer = ours.ok() ? AnswerAllowed(request) : ErrorAnswer(ours);
  answer.headers.emplace_back("X-Ksearch-Page", std::string(AssetsVersion()));
  return answer;
}

HttpAnswer Dashboard::AnswerAllowed(const HttpRequest& request) {
  if (request.method != "GET" && request.method != "POST") {
    return ErrorAnswer(405, "only GET and POST are supported");
  }
  if (absl::StartsWith(request.path, kApi)) return AnswerApi(request);
  if (request.method != "GET") return ErrorAnswer(405, "only /api/v1 takes POST");
  if (request.path == "/metrics") {
    const auto caller = Authorize(request, "GetServerFacts");
    if (!caller.ok()) return ErrorAnswer(caller.status());
    auto text = parts_.metrics(streams_.readers());
    if (!text.ok()) return ErrorAnswer(text.status());
    return TextAnswer(200, "text/plain; version=0.0.4; charset=utf-8", *std::move(text));
  }
  const std::vector<Asset>& assets = Assets();
  const auto asset = std::find_if(assets.begin(), assets.end(),
                                  [&](const Asset& each) { return each.path == request.path; });
  if (asset == assets.end()) {
    return ErrorAnswer(404, "there is nothing at this address; the page is at /");
  }
  return AssetAnswer(request, *asset);
}

HttpAnswer Dashboard::AnswerApi(const HttpRequest& request) {
  const std::string name = request.path.substr(kApi.size());
  if (name == "events") {
    if (request.method != "GET") return ErrorAnswer(405, "events are read with GET");
    auto reader = ReaderOf(request);
    if (!reader.ok()) return ErrorAnswer(reader.status());
    return streams_.Open(*std::move(reader));
  }
  const google::protobuf::MethodDescriptor* const method = FindMethod(name);
  if (method == nullptr) {
    return ErrorAnswer(404, absl::StrCat("there is no method of this name in ", kService));
  }
  const auto caller = Authorize(request, name);
  if (!caller.ok()) return ErrorAnswer(caller.status());
  if (request.method == "POST") {
    if (!absl::StartsWith(request.Header("content-type"), "application/json")) {
      return ErrorAnswer(415, "a request's body is JSON: send 'Content-Type: application/json'");
    }
    auto reply = parts_.call(name, request.body);
    if (!reply.ok()) return ErrorAnswer(reply.status());
    return TextAnswer(200, "application/json", *std::move(reply));
  }
  if (!Reads(*method)) {
    HttpAnswer answer = ErrorAnswer(405, absl::StrCat(name, " changes something: use POST"));
    answer.headers.emplace_back("Allow", "POST");
    return answer;
  }
  const std::string json = QueryAsJson(request.query);
  auto text = memo_.Get(absl::StrCat(name, "?", json), [&] { return parts_.call(name, json); });
  if (!text.ok()) return ErrorAnswer(text.status());
  HttpAnswer answer;
  answer.body = *std::move(text);
  return answer;
}

absl::StatusOr<std::string> Dashboard::Authorize(const HttpRequest& request,
                                                 absl::string_view method) const {
  if (parts_.access.authorize == nullptr) return std::string();
  return parts_.access.authorize(request.Header("authorization"),
                                 absl::StrCat("/", kService, "/", method));
}

absl::StatusOr<EventStreams::Reader> Dashboard::ReaderOf(const HttpRequest& request) const {
  EventStreams::Reader reader;
  ASSIGN_OR_RETURN(reader.token_id, Authorize(request, "WatchFeed"));
  std::string after = request.Header("last-event-id");
  for (const auto& [name, value] : request.query) {
    if (name == "run_id") {
      reader.run_id = value.substr(0, kMaxRunIdBytes);
    } else if (name == "after") {
      after = value;
    } else {
      return absl::InvalidArgumentError("events takes run_id and after, nothing else");
    }
  }
  if (after.empty()) return reader;
  int64_t cursor = 0;
  if (!absl::SimpleAtoi(after, &cursor) || cursor < 0) {
    return absl::InvalidArgumentError("after: must be a cursor of the feed, from 0");
  }
  reader.after = cursor;
  return reader;
}

}  // namespace ksearch::dashboard
