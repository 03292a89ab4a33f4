#include "coordinator/search/saved_programs.h"

#include <algorithm>
#include <utility>

#include "common/log.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/protobuf/wire_format_lite.h"

namespace ksearch {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedOutputStream;

// Field numbers of a map's entry in the wire format.
constexpr int kKeyField = 1;
constexpr int kValueField = 2;

// Appends a field of bytes.
void AppendField(int field, absl::string_view body, std::string* bytes) {
  google::protobuf::io::StringOutputStream stream(bytes);
  CodedOutputStream coded(&stream);
  coded.WriteTag(WireFormatLite::MakeTag(field, WireFormatLite::WIRETYPE_LENGTH_DELIMITED));
  coded.WriteVarint32(static_cast<uint32_t>(body.size()));
  coded.WriteRaw(body.data(), static_cast<int>(body.size()));
}

// Leaves room for `more` bytes.
void AppendStateBytes(const google::protobuf::MessageLite& message, size_t more,
                      std::string* bytes) {
  constexpr size_t kTagAndLength = 16;
  bytes->reserve(message.ByteSizeLong() + more + kTagAndLength);
  google::protobuf::io::StringOutputStream stream(bytes);
  CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);  // maps are sorted
  message.SerializeToCodedStream(&coded);
}

}  // namespace

std::string StateBytes(const google::protobuf::MessageLite& message) {
  std::string bytes;
  AppendStateBytes(message, 0, &bytes);
  return bytes;
}

std::string SavedPrograms::Encode(const google::protobuf::MessageLite& state,
                                  const v1::EvaluationLogState& log, int log_field, size_t more) {
  Update(log.screened());
  if (bytes_.empty()) return StateBytes(state);
  Programs aside;
  Programs& programs = *const_cast<v1::EvaluationLogState&>(log).mutable_screened();
  programs.swap(aside);
  std::string bytes;
  AppendStateBytes(state, /*more=*/bytes_.size() + more, &bytes);
  programs.swap(aside);
  AppendField(log_field, bytes_, &bytes);
  return bytes;
}

std::string SavedPrograms::EntryBytes(const std::string& id,
                                      const v1::ScreenedProgram& program) const {
  std::string entry;
  AppendField(kKeyField, id, &entry);
  AppendField(kValueField, StateBytes(program), &entry);
  std::string field;
  AppendField(field_, entry, &field);
  return field;
}

void SavedPrograms::Update(const Programs& programs) {
  if (all_) {
    entries_.clear();
    bytes_.clear();
    std::vector<const Programs::value_type*> sorted;
    for (const auto& entry : programs) sorted.push_back(&entry);
    std::sort(sorted.begin(), sorted.end(),
              [](const auto* a, const auto* b) { return a->first < b->first; });
    for (const auto* entry : sorted) {
      entries_.push_back({entry->first, bytes_.size()});
      bytes_ += EntryBytes(entry->first, entry->second);
    }
  } else {
    for (const std::string& id : changed_) {
      const auto found = programs.find(id);
      Put(id, found == programs.end() ? nullptr : &found->second);
    }
  }
  all_ = false;
  changed_.clear();
  CHECK(entries_.size() == static_cast<size_t>(programs.size()));
}

void SavedPrograms::Put(const std::string& id, const v1::ScreenedProgram* program) {
  const std::string bytes = program == nullptr ? "" : EntryBytes(id, *program);
  auto at =
      std::lower_bound(entries_.begin(), entries_.end(), id,
                       [](const Entry& entry, const auto& wanted) { return entry.id < wanted; });
  const bool known = at != entries_.end() && at->id == id;
  if (!known && program == nullptr) return;
  const size_t begin = at == entries_.end() ? bytes_.size() : at->begin;
  if (!known) at = entries_.insert(at, {id, begin});
  auto next = at + 1;
  const size_t end = !known ? begin : next == entries_.end() ? bytes_.size() : next->begin;
  bytes_.replace(begin, end - begin, bytes);
  if (program == nullptr) next = entries_.erase(at);
  for (auto later = next; later != entries_.end(); ++later) {
    later->begin += bytes.size();
    later->begin -= end - begin;
  }
}

}  // namespace ksearch
