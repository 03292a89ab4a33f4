#ifndef KSEARCH_COORDINATOR_SUITES_READABLE_TEXT_H_
#define KSEARCH_COORDINATOR_SUITES_READABLE_TEXT_H_

#include "google/protobuf/message.h"

namespace ksearch {

// Puts '?' in place of every byte that is not UTF-8 in the texts of `message` itself (not of the
// messages in it). A file or message of others may have any bytes, and one such text would make the
// whole reply unreadable.
void MakeTextsReadable(google::protobuf::Message* message);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_READABLE_TEXT_H_
