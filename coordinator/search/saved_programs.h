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

// A map of programs in a state, such as EvaluationLogState.screened, as it is saved. A search has
// thousands of programs and a step changes one of them, so the bytes are kept from one save to the
// next, and the changed program's alone are written again. Code that changes one there says so.
// Equal states give equal bytes, however they came about. Thread-compatible.
class SavedPrograms {
 public:
  using Programs = google::protobuf::Map<std::string, v1::ScreenedProgram>;

  // `field`: the map's number in its message.
  explicit SavedPrograms(int field = v1::EvaluationLogState::kScreenedFieldNumber)
      : field_(field) {}

  // The program of this id came, went or was changed.
  void Change(const std::string& candidate_id) { changed_.insert(candidate_id); }
  // The map is another one.
  void Restart() { all_ = true; }

  // The map's fields, one for each entry, by id. Good until the next call.
  const std::string& Fields(const Programs& programs) {
    Update(programs);
    return bytes_;
  }

  // The bytes of `state`, whose field `log_field` is `log`: that field comes twice, first without
  // the screened programs and at the end with them alone, which readers join. The programs are out
  // of `log` while it runs, and there again when it returns.
  // Leaves room for `more` bytes.
  std::string Encode(const google::protobuf::MessageLite& state, const v1::EvaluationLogState& log,
                     int log_field, size_t more = 0);

 private:
  struct Entry {
    std::string id;
    size_t begin = 0;  // in bytes_
  };
  void Update(const Programs& programs);
  std::string EntryBytes(const std::string& id, const v1::ScreenedProgram& program) const;
  // nullptr: there is none any more.
  void Put(const std::string& id, const v1::ScreenedProgram* program);

  const int field_;
  bool all_ = true;
  std::set<std::string> changed_;
  std::vector<Entry> entries_;  // by id
  std::string bytes_;           // one field for each entry
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_SAVED_PROGRAMS_H_
