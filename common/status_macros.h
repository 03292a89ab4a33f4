#ifndef KSEARCH_COMMON_STATUS_MACROS_H_
#define KSEARCH_COMMON_STATUS_MACROS_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

// RETURN_IF_ERROR(expr): returns the status of `expr` from this function unless it is OK.
// ASSIGN_OR_RETURN(lhs, expr): the same for a StatusOr, else assigns its value to `lhs`.

#define KSEARCH_CONCAT_INNER(a, b) a##b
#define KSEARCH_CONCAT(a, b) KSEARCH_CONCAT_INNER(a, b)

#define RETURN_IF_ERROR(expr)                          \
  do {                                                 \
    absl::Status ksearch_status_ = (expr);             \
    if (!ksearch_status_.ok()) return ksearch_status_; \
  } while (false)

#define ASSIGN_OR_RETURN(lhs, expr) \
  KSEARCH_ASSIGN_OR_RETURN_INNER(KSEARCH_CONCAT(ksearch_statusor_, __LINE__), lhs, expr)

#define KSEARCH_ASSIGN_OR_RETURN_INNER(statusor, lhs, expr) \
  auto statusor = (expr);                                   \
  if (!statusor.ok()) return statusor.status();             \
  lhs = std::move(statusor).value()

namespace ksearch {

// The same status, payloads included, with "context: " before its message. OK stays OK.
inline absl::Status Annotate(const absl::Status& status, absl::string_view context) {
  if (status.ok()) return status;
  absl::Status annotated(status.code(), absl::StrCat(context, ": ", status.message()));
  status.ForEachPayload([&annotated](absl::string_view type, const absl::Cord& payload) {
    annotated.SetPayload(type, payload);
  });
  return annotated;
}

// From errno, with what was being done: "open /x: No such file or directory". ENOSPC and EDQUOT
// become RESOURCE_EXHAUSTED, ENOENT NOT_FOUND, EACCES and EPERM PERMISSION_DENIED, else INTERNAL.
absl::Status ErrnoStatus(int error_number, absl::string_view doing);

}  // namespace ksearch

#endif  // KSEARCH_COMMON_STATUS_MACROS_H_
