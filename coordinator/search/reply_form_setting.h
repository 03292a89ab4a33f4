#ifndef KSEARCH_COORDINATOR_SEARCH_REPLY_FORM_SETTING_H_
#define KSEARCH_COORDINATOR_SEARCH_REPLY_FORM_SETTING_H_

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "coordinator/search/setting_faults.h"
#include "proto/config.pb.h"

namespace ksearch {

// The form to set: `asked`, or `usual` where none was asked for.
inline v1::ReplyForm CompleteReplyForm(absl::string_view field, v1::ReplyForm asked,
                                       v1::ReplyForm usual, SettingFaults* faults) {
  if (asked == v1::REPLY_FORM_UNSPECIFIED) return usual;
  faults->Require(v1::ReplyForm_IsValid(asked),
                  absl::StrCat(field, " is ", static_cast<int>(asked),
                               ", must be REPLY_FORM_WHOLE, _SEARCH_REPLACE or _UNIFIED_DIFF"));
  return asked;
}

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_REPLY_FORM_SETTING_H_
