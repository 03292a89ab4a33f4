#ifndef KSEARCH_COORDINATOR_LLM_PROVIDER_REFUSED_FIELDS_H_
#define KSEARCH_COORDINATOR_LLM_PROVIDER_REFUSED_FIELDS_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "common/mutex.h"

namespace ksearch {

// Optional members of requests that some models refuse. A member that a model has refused is
// omitted from every later request to it, for the lifetime of this object. Thread-safe.
class RefusedFields {
 public:
  // `optional`: "name" or "name.member", the more specific first.
  explicit RefusedFields(std::vector<std::string> optional) : optional_(std::move(optional)) {}

  struct Body {
    std::string json;
    std::vector<std::string> optional;  // optional members that it contains
  };
  // Returns the JSON object `json` without the members that `model` has refused.
  Body Without(const std::string& model, std::string json) const;

  // Returns true if `failure` (see NoteRefusal) says that `model` refuses one of the members
  // `sent`, which is omitted from now on.
  bool Learn(const std::string& model, const std::vector<std::string>& sent,
             const absl::Status& failure);

 private:
  const std::vector<std::string> optional_;
  mutable Mutex mu_;
  std::map<std::string, std::set<std::string>> refused_ ABSL_GUARDED_BY(mu_);  // by model
};

// Records in a failed call's status that the server refused a parameter by its name, not for its
// value. `parameter`: its name if the server gives it separately, otherwise empty.
void NoteRefusal(absl::string_view code, absl::string_view parameter, absl::string_view message,
                 absl::Status* status);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_PROVIDER_REFUSED_FIELDS_H_
