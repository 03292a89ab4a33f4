#include "coordinator/events/sinks/tensorboard_recorder.h"

#include <boost/crc.hpp>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "coordinator/events/sinks/wire_message.h"

namespace ksearch::sinks {
namespace {

// CRC-32C, rotated and shifted, as a CRC of data that contains CRCs is unreliable.
uint32_t MaskedCrc(absl::string_view bytes) {
  boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> crc;
  crc.process_bytes(bytes.data(), bytes.size());
  const uint32_t sum = crc.checksum();
  return ((sum >> 15) | (sum << 17)) + 0xa282ead8u;
}

void AppendLittleEndian(uint64_t value, int bytes, std::string* to) {
  for (int i = 0; i < bytes; ++i) to->push_back(static_cast<char>(value >> (8 * i)));
}

std::string TfRecord(const WireMessage& event) {
  std::string record;
  AppendLittleEndian(event.bytes().size(), 8, &record);
  AppendLittleEndian(MaskedCrc(record), 4, &record);
  record += event.bytes();
  AppendLittleEndian(MaskedCrc(event.bytes()), 4, &record);
  return record;
}

double UnixSeconds(absl::Time time) {
  return absl::FDivDuration(time - absl::UnixEpoch(), absl::Seconds(1));
}

// tensorflow.Event: wall_time 1, step 2, file_version 3, summary 5.
WireMessage EventAt(absl::Time time, int64_t step) {
  WireMessage event;
  event.Double(1, UnixSeconds(time));
  if (step > 0) event.Varint(2, step);
  return event;
}

}  // namespace

absl::Status TensorboardRecorder::Record(const v1::RunEvent& event, RunFiles* files) {
  if (path_.empty()) {
    const absl::Time begin = FromProto(event.at());
    path_ = absl::StrCat(folder_, "/events.out.tfevents.", absl::ToUnixSeconds(begin), ".ksearch");
    RETURN_IF_ERROR(files->Append(path_, TfRecord(EventAt(begin, 0).Bytes(3, "brain.Event:2"))));
  }
  if (!progress_.Add(event)) return absl::OkStatus();
  // Summary.value 1; Summary.Value: tag 1, simple_value 2.
  WireMessage summary;
  for (const auto& [name, value] : progress_.Values()) {
    summary.Message(1, WireMessage().Bytes(1, name).Float(2, static_cast<float>(value)));
  }
  return files->Append(path_,
                       TfRecord(EventAt(FromProto(event.at()), ++step_).Message(5, summary)));
}

}  // namespace ksearch::sinks
