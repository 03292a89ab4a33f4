#include "coordinator/events/sinks/wandb_log.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <optional>
#include <vector>

#include "common/rng.h"

namespace ksearch::sinks {
namespace {

uint32_t Number(absl::string_view bytes, int count) {
  uint32_t number = 0;
  for (int i = 0; i < count; ++i) {
    number |= static_cast<uint32_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  return number;
}

// Reads like wandb's own reader: by blocks, with zlib's checksum.
std::optional<std::vector<std::string>> ReadRecords(absl::string_view file) {
  if (file.substr(0, 7) != absl::string_view(":W&B\xE1\xBE\x00", 7)) return std::nullopt;
  std::vector<std::string> records;
  std::string record;
  bool inside = false;  // within a record that has begun
  size_t at = 7;
  while (at < file.size()) {
    const size_t left_in_block = 32768 - at % 32768;
    if (left_in_block < 7) {
      for (size_t i = 0; i < left_in_block; ++i) {
        if (file[at + i] != '\0') return std::nullopt;
      }
      at += left_in_block;
      continue;
    }
    const size_t length = Number(file.substr(at + 4), 2);
    const char type = file[at + 6];
    if (length + 7 > left_in_block || at + 7 + length > file.size()) return std::nullopt;
    const auto* const summed = reinterpret_cast<const unsigned char*>(file.data() + at + 6);
    if (Number(file.substr(at), 4) != ::crc32(0, summed, static_cast<uInt>(length + 1))) {
      return std::nullopt;
    }
    const bool begins = type == 1 || type == 2;
    if (begins == inside) return std::nullopt;
    inside = type == 2 || type == 3;
    record.append(file.data() + at + 7, length);
    at += 7 + length;
    if (type == 1 || type == 4) {
      records.push_back(record);
      record.clear();
    }
  }
  return inside ? std::nullopt : std::make_optional(records);
}

TEST(WandbLogTest, RecordsOfAllSizesAreReadBack) {
  Rng rng(5);
  for (int trial = 0; trial < 50; ++trial) {
    WandbLog log;
    std::string file = log.Begin();
    std::vector<std::string> records;
    for (int i = 0; i < 30; ++i) {
      // Around the rest of a block, too.
      const size_t left = 32768 - file.size() % 32768;
      const size_t size = i % 3 == 0 ? left - std::min<size_t>(left, rng.NextBelow(20))
                                     : rng.NextBelow(i % 5 == 0 ? 100'000 : 3000);
      std::string record;
      for (size_t byte = 0; byte < size; ++byte) {
        record.push_back(static_cast<char>(rng.NextBelow(256)));
      }
      if (record.empty()) record = "x";
      file += log.Add(record);
      records.push_back(record);
    }
    const auto read = ReadRecords(file);
    ASSERT_TRUE(read.has_value()) << "trial " << trial;
    EXPECT_TRUE(*read == records) << "trial " << trial;
  }
}

}  // namespace
}  // namespace ksearch::sinks
