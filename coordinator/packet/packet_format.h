#ifndef KSEARCH_COORDINATOR_PACKET_PACKET_FORMAT_H_
#define KSEARCH_COORDINATOR_PACKET_PACKET_FORMAT_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace ksearch::packet {

// Puts untrusted text on one line: anything but printable ASCII becomes '?', and longer text is cut
// and ends in "...".
std::string Clean(absl::string_view text, size_t max_bytes);

// 1234567 -> "1.23M": three digits, in steps of 1000.
std::string Count(double number);
// "1.23 MB", "3.10 TB/s" with suffix "/s".
std::string Bytes(double bytes, absl::string_view suffix = "");
// "12.3"
std::string Number(double number);

}  // namespace ksearch::packet

#endif  // KSEARCH_COORDINATOR_PACKET_PACKET_FORMAT_H_
