#ifndef KSEARCH_COORDINATOR_SEARCH_SAVED_PROGRAMS_H_
#define KSEARCH_COORDINATOR_SEARCH_SAVED_PROGRAMS_H_

#include <set>
#include <string>
#include <vector>

#include "google/protobuf/message_lite.h"
#include "proto/search_state.pb.h"

namespace ksearch {

// The bytes of a message, the same for equal messages: maps are in the order of their keys.
std::string StateBytes(const google::protobuf::MessageLite& message);

// Serializes a map of programs in a state, such as EvaluationLogState.screened. A search has
// thousands of programs, and a step changes one of them, so the bytes are kept from one save to the
// next and only the changed program is serialized again. Code that changes a program must call
// Change. Equal states give equal bytes, whatever their history. Thread-compatible.
class SavedPrograms {
 public:
  using Programs = google::protobuf::Map<std::string, v1::ScreenedProgram>;

  // `field`: the map's number in its message.
  explicit SavedPrograms(int field = v1::EvaluationLogState::kScreenedFieldNumber)
      : field_(field) {}

  // The program with this id was added, removed or changed.
  void Change(const std::string& candidate_id) { changed_.insert(candidate_id); }
  // The whole map was replaced.
  void Restart() { all_ = true; }

  // The map's fields, one per entry, in the order of ids. Valid until the next call.
  const std::string& Fields(const Programs& programs) {
    Update(programs);
    return bytes_;
  }

  // The bytes of `state`, whose field `log_field` is `log`. That field is written twice, first
  // without the screened programs and at the end with only them; parsers merge both. The programs
  // are moved out of `log` during the call and back before it returns. Reserves room for `more`
  // bytes.
  std::string Encode(const google::protobuf::MessageLite& state, const v1::EvaluationLogState& log,
                     int log_field, size_t more = 0);

 private:
  struct Entry {
    std::string id;
    size_t begin = 0;  // in bytes_
  };
  void Update(const Programs& programs);
  std::string EntryBytes(const std::string& id, const v1::ScreenedProgram& program) const;
  // nullptr: the program was removed.
  void Put(const std::string& id, const v1::ScreenedProgram* program);

  const int field_;
  bool all_ = true;
  std::set<std::string> changed_;
  std::vector<Entry> entries_;  // by id
  std::string bytes_;           // one field for each entry
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_SAVED_PROGRAMS_H_
