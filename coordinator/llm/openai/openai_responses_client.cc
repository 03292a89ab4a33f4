#include "coordinator/llm/openai/openai_responses_client.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/log.h"
#include "coordinator/llm/failure/retry_after.h"
#include "coordinator/llm/openai/responses_json.h"

namespace ksearch {
namespace {

// A poll costs nothing, so a few may fail before the call does.
constexpr int kMaxFailedPolls = 5;
constexpr absl::Duration kLongestPollDelay = absl::Minutes(2);
// How often to look whether the id has been stored.
constexpr absl::Duration kStoreCheck = absl::Milliseconds(20);
// Identifies states saved by this kind of provider.
constexpr absl::string_view kStatePrefix = "openai_responses ";

enum StoreProgress { kStoring, kStored, kNotStored };

}  // namespace

struct OpenAiResponsesClient::Job {
  LlmRequest request;
  Done done;
  std::string id;  // empty: the response has not begun
  absl::Time started;
  int failed_polls = 0;
  std::vector<std::string> sent_optional;  // of the request that began it
  // Shared with the store, which may answer after this client is destroyed.
  std::shared_ptr<std::atomic<StoreProgress>> stored =
      std::make_shared<std::atomic<StoreProgress>>(kStored);

  void Remember() {
    if (request.state == nullptr) return;
    *stored = kStoring;
    request.state->Save(absl::StrCat(kStatePrefix, id), [flag = stored](absl::Status status) {
      *flag = status.ok() ? kStored : kNotStored;
    });
  }
  void Forget() {
    if (request.state != nullptr) request.state->Save("", [](absl::Status) {});
  }
};

OpenAiResponsesClient::OpenAiResponsesClient(OpenAiResponsesOptions options,
                                             HttpTransport& transport, const Clock& clock)
    : options_(std::move(options)),
      url_(absl::StrCat(options_.base_url, "/responses")),
      transport_(transport),
      clock_(clock) {}

HttpRequest OpenAiResponsesClient::NewRequest(HttpRequest::Method method, const std::string& url,
                                              std::string body, const LlmLabels& labels) const {
  HttpRequest request = JsonPost(options_, url, std::move(body), labels);
  request.method = method;
  if (!options_.key.empty()) request.headers.push_back(options_.key.AuthorizationHeader());
  return request;
}

void OpenAiResponsesClient::Complete(LlmRequest request, Done done) {
  if (request.model.empty()) request.model = options_.default_model;
  if (request.model.empty()) {
    return RefuseWithoutModel(options_, "openai_responses", transport_, std::move(done));
  }
  if (!options_.background) {
    HttpRequest post =
        NewRequest(HttpRequest::Method::kPost, url_,
                   ResponsesRequestJson(request, false, options_.extra_body), request.labels);
    post.headers.push_back("Accept: text/event-stream");
    return SendForReply(
        context(), std::move(post), std::move(request.model),
        std::make_shared<ResponsesReader>(static_cast<size_t>(options_.max_reply_bytes)),
        std::move(done));
  }
  auto job = std::make_unique<Job>();
  job->request = std::move(request);
  job->done = std::move(done);
  job->started = clock_.SteadyNow();
  const std::string state = job->request.state == nullptr ? "" : job->request.state->Load();
  absl::string_view id = state;
  if (absl::ConsumePrefix(&id, kStatePrefix) && IsResponseId(id)) {
    job->id = std::string(id);
    return Poll(std::move(job));
  }
  Begin(std::move(job));
}

void OpenAiResponsesClient::Begin(std::unique_ptr<Job> job) {
  RefusedFields::Body body = refused_.Without(
      job->request.model, ResponsesRequestJson(job->request, true, options_.extra_body));
  job->sent_optional = std::move(body.optional);
  HttpRequest post =
      NewRequest(HttpRequest::Method::kPost, url_, std::move(body.json), job->request.labels);
  transport_.Send(std::move(post),
                  [this, job = std::move(job)](absl::StatusOr<HttpResponse> response) mutable {
                    OnBegun(std::move(job), std::move(response));
                  });
}

void OpenAiResponsesClient::OnBegun(std::unique_ptr<Job> job,
                                    absl::StatusOr<HttpResponse> response) {
  if (response.ok() && response->status == 200) {
    const absl::StatusOr<ResponsesSnapshot> snapshot = ParseResponse(response->body);
    if (snapshot.ok() && !snapshot->outcome) {
      if (!IsResponseId(snapshot->id)) {
        return std::move(job->done)(OfProvider(
            options_, absl::DataLossError(absl::StrCat(url_, ": a response without an id"))));
      }
      job->id = snapshot->id;
      job->Remember();
      return PollAfter(std::move(job), options_.poll_interval);
    }
  }
  ResponsesReader reader;
  absl::StatusOr<LlmReply> reply =
      ReadResponse(context(), url_, job->request.model, response, reader);
  if (!reply.ok()) {
    reply = LearnRefusal(context(), job->request.model, job->sent_optional, reply.status());
  }
  std::move(job->done)(std::move(reply));
}

void OpenAiResponsesClient::PollAfter(std::unique_ptr<Job> job, absl::Duration delay) {
  transport_.RunAfter(delay, [this, job = std::move(job)](absl::Status status) mutable {
    if (!status.ok()) return std::move(job->done)(std::move(status));
    const StoreProgress stored = *job->stored;
    if (stored == kStoring) return PollAfter(std::move(job), kStoreCheck);
    if (stored == kNotStored) {
      LOG(WARNING) << "msg=\"response id not stored: a restart would ask again\" response="
                   << job->id;
      *job->stored = kStored;
    }
    Poll(std::move(job));
  });
}

std::string OpenAiResponsesClient::ResponseUrl(const Job& job) const {
  return absl::StrCat(url_, "/", job.id);
}

void OpenAiResponsesClient::Poll(std::unique_ptr<Job> job) {
  HttpRequest get =
      NewRequest(HttpRequest::Method::kGet, ResponseUrl(*job), "", job->request.labels);
  transport_.Send(std::move(get),
                  [this, job = std::move(job)](absl::StatusOr<HttpResponse> response) mutable {
                    OnPolled(std::move(job), std::move(response));
                  });
}

void OpenAiResponsesClient::OnPolled(std::unique_ptr<Job> job,
                                     absl::StatusOr<HttpResponse> response) {
  job = FinishIfOver(std::move(job), response);
  if (job == nullptr) return;
  if (clock_.SteadyNow() - job->started > options_.timeouts.total) return GiveUp(std::move(job));
  const absl::Duration asked =
      response.ok() ? ServerDelay(*response, clock_.Now()).value_or(absl::ZeroDuration())
                    : absl::ZeroDuration();
  PollAfter(std::move(job), std::clamp(asked, options_.poll_interval, kLongestPollDelay));
}

std::unique_ptr<OpenAiResponsesClient::Job> OpenAiResponsesClient::FinishIfOver(
    std::unique_ptr<Job> job, const absl::StatusOr<HttpResponse>& response) {
  if (response.ok() && response->status == 200) {
    const absl::StatusOr<ResponsesSnapshot> snapshot = ParseResponse(response->body);
    if (snapshot.ok() && !snapshot->outcome) {
      job->failed_polls = 0;
      return job;
    }
  }
  const std::string url = ResponseUrl(*job);
  if (response.ok() && response->status == 404) {
    job->Forget();
    std::move(job->done)(OfProvider(
        options_,
        absl::DataLossError(absl::StrCat(
            url, ": the provider no longer has this response; it may have been billed"))));
    return nullptr;
  }
  ResponsesReader reader;
  absl::StatusOr<LlmReply> reply =
      ReadResponse(context(), url, job->request.model, response, reader);
  const bool response_over = response.ok() && response->status == 200;
  if (!reply.ok() && !response_over && !IsTerminalLlmError(reply.status().code()) &&
      reply.status().code() != absl::StatusCode::kCancelled &&
      ++job->failed_polls < kMaxFailedPolls) {
    return job;
  }
  if (!reply.ok() && response_over) job->Forget();
  std::move(job->done)(std::move(reply));
  return nullptr;
}

// Cancels a response that is no longer needed, so that it is not billed to its end.
void OpenAiResponsesClient::GiveUp(std::unique_ptr<Job> job) {
  HttpRequest cancel =
      NewRequest(HttpRequest::Method::kPost, absl::StrCat(ResponseUrl(*job), "/cancel"), "{}",
                 job->request.labels);
  transport_.Send(std::move(cancel), [this, job = std::move(job)](
                                         absl::StatusOr<HttpResponse> response) mutable {
    if (absl::IsCancelled(response.status())) return std::move(job->done)(response.status());
    job->Forget();
    std::move(job->done)(OfProvider(options_, absl::DeadlineExceededError(absl::StrCat(
                                                  ResponseUrl(*job), " was not ready within ",
                                                  absl::FormatDuration(options_.timeouts.total),
                                                  " (total_timeout); cancelled"))));
  });
}

}  // namespace ksearch
