#include "coordinator/store/world_model_rows.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"

namespace ksearch::world_model_rows {
namespace {

// Nodes have even numbers, in the order of their insertion, and tombstones odd ones.
int64_t NumberOf(const v1::Node& node) { return 2 * int64_t{node.insertion_index()}; }
int64_t NumberOfTombstone(int place) { return 2 * int64_t{place} + 1; }
bool IsTombstone(int64_t number) { return number % 2 != 0; }

// The parts of `model`; nullopt: its nodes are not in the order of their insertion.
std::optional<Parts> PartsOf(const v1::WorldModel& model) {
  Parts parts;
  int64_t last = -1;
  for (const v1::Node& node : model.nodes()) {
    if (NumberOf(node) <= last) return std::nullopt;
    last = NumberOf(node);
    parts[last] = node.SerializeAsString();
  }
  for (int i = 0; i < model.tombstones_size(); ++i) {
    parts[NumberOfTombstone(i)] = model.tombstones(i).SerializeAsString();
  }
  return parts;
}

// The model without its parts.
v1::WorldModel RestOf(const v1::WorldModel& model) {
  v1::WorldModel rest;
  rest.set_kernel_summary(model.kernel_summary());
  *rest.mutable_open_questions() = model.open_questions();
  rest.set_root_id(model.root_id());
  rest.set_active_node_id(model.active_node_id());
  rest.set_next_insertion_index(model.next_insertion_index());
  rest.set_revision(model.revision());
  return rest;
}

absl::StatusOr<Parts> ReadParts(Database& database, const std::string& run_id) {
  Statement select = database.Prepare(
      "SELECT part, body FROM world_model_parts WHERE run_id = ? AND replaced_in IS NULL");
  select.Text(run_id);
  Parts parts;
  while (true) {
    ASSIGN_OR_RETURN(const bool row, select.Next());
    if (!row) return parts;
    parts[select.IntAt(0)] = select.TextAt(1);
  }
}

// Writes the differences between `before` and `now`, as of `revision`.
absl::Status WriteChanges(Database& database, const std::string& run_id, int64_t revision,
                          const Parts& before, const Parts& now) {
  const auto replace = [&](int64_t part) {
    return database
        .Prepare(
            "UPDATE world_model_parts SET replaced_in = ? WHERE run_id = ? AND part = ? AND "
            "replaced_in IS NULL")
        .Int(revision)
        .Text(run_id)
        .Int(part)
        .Run();
  };
  for (const auto& [part, body] : before) {
    if (now.find(part) == now.end()) RETURN_IF_ERROR(replace(part));
  }
  for (const auto& [part, body] : now) {
    const auto known = before.find(part);
    if (known != before.end() && known->second == body) continue;
    if (known != before.end()) RETURN_IF_ERROR(replace(part));
    RETURN_IF_ERROR(database
                        .Prepare("INSERT INTO world_model_parts (run_id, part, revision, body) "
                                 "VALUES (?, ?, ?, ?)")
                        .Text(run_id)
                        .Int(part)
                        .Int(revision)
                        .Blob(body)
                        .Run());
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> NewestRevision(Database& database, const std::string& run_id) {
  Statement select = database.Prepare("SELECT MAX(revision) FROM world_models WHERE run_id = ?");
  ASSIGN_OR_RETURN(const bool found, select.Text(run_id).Next());
  return found ? select.IntAt(0) : 0;  // NULL reads as 0
}

}  // namespace

absl::Status Insert(Database& database, const std::string& run_id, const v1::WorldModel& model,
                    std::optional<Parts>* parts) {
  std::optional<Parts> now = PartsOf(model);
  ASSIGN_OR_RETURN(const int64_t newest, NewestRevision(database, run_id));
  // Stored parts are those of the newest revision.
  if (model.revision() <= newest) now.reset();
  const std::string body =
      now.has_value() ? RestOf(model).SerializeAsString() : model.SerializeAsString();
  RETURN_IF_ERROR(
      database
          .Prepare("INSERT INTO world_models (run_id, revision, body, in_parts) VALUES (?, ?, ?, ?)"
                   " ON CONFLICT DO NOTHING")
          .Text(run_id)
          .Int(model.revision())
          .Blob(body)
          .Int(now.has_value() ? 1 : 0)
          .Run());
  if (database.changes() == 0) {
    ASSIGN_OR_RETURN(const v1::WorldModel kept, Read(database, run_id, model.revision()));
    if (kept.SerializeAsString() == model.SerializeAsString()) return absl::OkStatus();
    return absl::FailedPreconditionError(
        absl::StrCat("run ", run_id, " already has another world model with revision ",
                     model.revision(), "; a changed one needs the next revision"));
  }
  if (!now.has_value()) return absl::OkStatus();
  if (!parts->has_value()) {
    ASSIGN_OR_RETURN(*parts, ReadParts(database, run_id));
  }
  RETURN_IF_ERROR(WriteChanges(database, run_id, model.revision(), **parts, *now));
  *parts = std::move(now);
  return absl::OkStatus();
}

absl::StatusOr<v1::WorldModel> Read(Database& database, const std::string& run_id,
                                    int64_t revision) {
  // One statement, so that no step comes between the rest and its parts.
  Statement select = database.Prepare(
      revision == 0
          ? "SELECT model.body, part, parts.body FROM (SELECT * FROM world_models WHERE run_id = "
            "?1 ORDER BY revision DESC LIMIT 1) AS model LEFT JOIN world_model_parts AS parts ON "
            "in_parts = 1 AND parts.run_id = ?1 AND replaced_in IS NULL ORDER BY part"
          : "SELECT model.body, part, parts.body FROM (SELECT * FROM world_models WHERE run_id = "
            "?1 AND revision = ?2) AS model LEFT JOIN world_model_parts AS parts ON in_parts = 1 "
            "AND parts.run_id = ?1 AND parts.revision <= ?2 AND (replaced_in IS NULL OR "
            "replaced_in > ?2) ORDER BY part");
  select.Text(run_id);
  if (revision != 0) select.Int(revision);
  ASSIGN_OR_RETURN(bool row, select.Next());
  if (!row) {
    return absl::NotFoundError(
        revision == 0 ? absl::StrCat("run ", run_id, " has no world model")
                      : absl::StrCat("run ", run_id, " has no world model of revision ", revision));
  }
  v1::WorldModel model;
  RETURN_IF_ERROR(select.ProtoAt(0, &model));
  for (; row && !select.IsNullAt(1);) {
    if (IsTombstone(select.IntAt(1))) {
      RETURN_IF_ERROR(select.ProtoAt(2, model.add_tombstones()));
    } else {
      RETURN_IF_ERROR(select.ProtoAt(2, model.add_nodes()));
    }
    ASSIGN_OR_RETURN(row, select.Next());
  }
  return model;
}

}  // namespace ksearch::world_model_rows
