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

// Members of a request that some models refuse and that it can do without. What a model has refused
// is left out of every later request to it, for as long as this object lives. Thread-safe.
class RefusedFields {
 public:
  // "name" or "name.member", the more special first.
  explicit RefusedFields(std::vector<std::string> optional) : optional_(std::move(optional)) {}

  struct Body {
    std::string json;
    std::vector<std::string> optional;  // what of it can be left out
  };
  // The JSON object `json` without what `model` has refused.
  Body Without(const std::string& model, std::string json) const;

  // Whether `failure` (see NoteRefusal) says that `model` refuses one of the members `sent`, which
  // is left out from now on.
  bool Learn(const std::string& model, const std::vector<std::string>& sent,
             const absl::Status& failure);

 private:
  const std::vector<std::string> optional_;
  mutable Mutex mu_;
  std::map<std::string, std::set<std::string>> refused_ ABSL_GUARDED_BY(mu_);  // by model
};

// Notes on a failed call's status what the server said if it refused a parameter by its name, not
// for its value: `parameter` as named apart from the message, or empty.
void NoteRefusal(absl::string_view code, absl::string_view parameter, absl::string_view message,
                 absl::Status* status);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_PROVIDER_REFUSED_FIELDS_H_
