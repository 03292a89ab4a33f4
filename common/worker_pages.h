#ifndef KSEARCH_COMMON_WORKER_PAGES_H_
#define KSEARCH_COMMON_WORKER_PAGES_H_

#include <utility>

#include "absl/status/statusor.h"
#include "common/status_macros.h"
#include "proto/search_service.pb.h"

namespace ksearch {

// All pages of SearchService.ListWorkers as one reply. `call` asks for one page: it takes the
// request and returns absl::StatusOr<v1::ListWorkersReply>, whose first error ends this.
template <typename Call>
absl::StatusOr<v1::ListWorkersReply> AllWorkers(v1::ListWorkersRequest request, Call call) {
  v1::ListWorkersReply all;
  do {
    ASSIGN_OR_RETURN(const v1::ListWorkersReply page, call(std::as_const(request)));
    request.set_page_token(page.next_page_token());
    all.MergeFrom(page);
  } while (!request.page_token().empty());
  all.clear_next_page_token();
  return all;
}

}  // namespace ksearch

#endif  // KSEARCH_COMMON_WORKER_PAGES_H_
