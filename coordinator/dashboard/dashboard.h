#ifndef KSEARCH_COORDINATOR_DASHBOARD_DASHBOARD_H_
#define KSEARCH_COORDINATOR_DASHBOARD_DASHBOARD_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/clock.h"
#include "coordinator/dashboard/access.h"
#include "coordinator/dashboard/answer_memo.h"
#include "coordinator/dashboard/event_streams.h"
#include "coordinator/dashboard/http/http_server.h"
#include "coordinator/dashboard/http/request_guard.h"
#include "coordinator/events/event_feed.h"

namespace ksearch::dashboard {

// The page that shows what a coordinator does, and its metrics (docs/dashboard.md):
//   GET /               the page and its files
//   GET /metrics        Prometheus text
//   GET /api/v1/events  the event feed as server-sent events; ?run_id=R&after=CURSOR
//   GET, POST /api/v1/METHOD   an RPC of the SearchService as JSON; the fields of its request are
//                       the query of a GET, or the body of a POST. GET reads only.
class Dashboard {
 public:
  struct Options {
    // IP:PORT or localhost:PORT; port 0 picks a free one. The address must be loopback, because
    // this server does not encrypt.
    std::string listen_address = "127.0.0.1:7480";
    std::vector<std::string> allowed_hosts = {};  // RequestGuard
  };
  struct Parts {
    EventFeed* feed;
    EventStreams::ReadEvents read_events;
    EventStreams::NewestCursor newest_cursor;
    // Carries out an RPC given as JSON (JsonCalls::Call).
    std::function<absl::StatusOr<std::string>(absl::string_view method, absl::string_view json)>
        call;
    // Returns the text of /metrics. `open_pages`: number of open event streams. May block.
    std::function<absl::StatusOr<std::string>(int open_pages)> metrics;
    DashboardAccess access;
    const Clock* clock = &Clock::Real();
  };

  // Whatever `parts` refers to must outlive the dashboard. INVALID_ARGUMENT: no such address, or
  // not a loopback one. ALREADY_EXISTS: the address is in use.
  static absl::StatusOr<std::unique_ptr<Dashboard>> Start(const Options& options, Parts parts);
  ~Dashboard();
  Dashboard(const Dashboard&) = delete;
  Dashboard& operator=(const Dashboard&) = delete;

  // For example "http://127.0.0.1:7480/", with the actual port.
  const std::string& url() const { return url_; }

 private:
  Dashboard(const Options& options, Parts parts);
  HttpAnswer Answer(const HttpRequest& request);
  HttpAnswer AnswerAllowed(const HttpRequest& request);
  HttpAnswer AnswerApi(const HttpRequest& request);
  // Returns the id of the caller's token, "" if no tokens are in use.
  absl::StatusOr<std::string> Authorize(const HttpRequest& request, absl::string_view method) const;
  absl::StatusOr<EventStreams::Reader> ReaderOf(const HttpRequest& request) const;

  const Parts parts_;
  const RequestGuard guard_;
  std::string url_;
  AnswerMemo memo_;
  std::unique_ptr<HttpServer> server_;  // stopped first, destroyed once streams_ has released it
  EventStreams streams_;
};

}  // namespace ksearch::dashboard

#endif  // KSEARCH_COORDINATOR_DASHBOARD_DASHBOARD_H_
