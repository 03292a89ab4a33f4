#include "coordinator/events/sinks/wandb_log.h"

#include <algorithm>
#include <boost/crc.hpp>

namespace ksearch::sinks {
namespace {

constexpr char kWhole = 1, kFirst = 2, kMiddle = 3, kLast = 4;

void AppendPiece(char type, absl::string_view data, std::string* to) {
  boost::crc_32_type crc;
  crc.process_byte(static_cast<unsigned char>(type));
  crc.process_bytes(data.data(), data.size());
  const uint32_t sum = crc.checksum();
  for (int i = 0; i < 4; ++i) to->push_back(static_cast<char>(sum >> (8 * i)));
  to->push_back(static_cast<char>(data.size()));
  to->push_back(static_cast<char>(data.size() >> 8));
  to->push_back(type);
  to->append(data.data(), data.size());
}

}  // namespace

std::string WandbLog::Begin() {
  in_block_ = kHeaderBytes;
  return std::string(":W&B\xE1\xBE\x00", kHeaderBytes);
}

std::string WandbLog::Add(absl::string_view record) {
  std::string bytes;
  bool begun = false;
  do {
    int64_t room = kBlockBytes - in_block_;
    if (room < kHeaderBytes) {
      bytes.append(static_cast<size_t>(room), '\0');
      in_block_ = 0;
      room = kBlockBytes;
    }
    const size_t length = std::min(record.size(), static_cast<size_t>(room - kHeaderBytes));
    const bool ends = length == record.size();
    const char type = begun ? (ends ? kLast : kMiddle) : (ends ? kWhole : kFirst);
    AppendPiece(type, record.substr(0, length), &bytes);
    in_block_ += kHeaderBytes + static_cast<int64_t>(length);
    record.remove_prefix(length);
    begun = true;
  } while (!record.empty());
  return bytes;
}

}  // namespace ksearch::sinks
