#ifndef KSEARCH_COORDINATOR_SEARCH_SETTING_FAULTS_H_
#define KSEARCH_COORDINATOR_SEARCH_SETTING_FAULTS_H_

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace ksearch {

// Collects errors in settings; each begins with the field's name.
class SettingFaults {
 public:
  void Range(absl::string_view field, double value, double low, double high) {
    if (!(value >= low && value <= high)) {  // so that NaN is rejected, too
      faults_.push_back(absl::StrCat(field, " is ", value, ", must be in [", low, ", ", high, "]"));
    }
  }
  void Require(bool condition, absl::string_view fault) {
    if (!condition) faults_.emplace_back(fault);
  }
  const std::vector<std::string>& all() const { return faults_; }

 private:
  std::vector<std::string> faults_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_SETTING_FAULTS_H_
