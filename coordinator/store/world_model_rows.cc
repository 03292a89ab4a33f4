#include "coordinator/store/world_model_rows.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"

namespace ksearch::world_model_rows {
namespace {

// Nodes have even numbers, in the order of their insertion, and tombstones odd ones.
int64_t NumberOf(const v1::Node& node) { return 2 * int64_t{node.insertion_index()}; }
int64_t NumberOfTombstone(int64_t place) { return 2 * place + 1; }
bool IsTombstone(int64_t number) { return number % 2 != 0; }

bool AreInOrder(const google::protobuf::RepeatedPtrField<v1::Node>& nodes) {
  const auto later = [](const v1::Node& a, const v1::Node& b) {
    return a.insertion_index() >= b.insertion_index();
  };
  return (nodes.empty() || nodes[0].insertion_index() >= 0) &&
         std::adjacent_find(nodes.begin(), nodes.end(), later) == nodes.end();
}

// How to get from the parts of a tree to those of another one.
struct Changes {
  std::vector<int64_t> gone;
  Parts written;
};

// The nodes of `model` are in the order of their insertion.
Changes ChangesTo(const v1::WorldModel& model, const Parts& before) {
  Changes changes;
  std::string body;
  auto known = before.begin();
  const auto compare = [&](int64_t number, const google::protobuf::MessageLite& part) {
    part.SerializeToString(&body);
    if (known == before.end() || known->first != number || known->second != body) {
      changes.written.emplace(number, body);
    }
  };
  for (const v1::Node& node : model.nodes()) {
    const int64_t number = NumberOf(node);
    for (; known != before.end() && known->first < number; ++known) {
      if (!IsTombstone(known->first)) changes.gone.push_back(known->first);
    }
    compare(number, node);
    if (known != before.end() && known->first == number) ++known;
  }
  for (; known != before.end(); ++known) {
    if (!IsTombstone(known->first)) changes.gone.push_back(known->first);
  }
  for (int i = 0; i < model.tombstones_size(); ++i) {
    known = before.find(NumberOfTombstone(i));
    compare(NumberOfTombstone(i), model.tombstones(i));
  }
  for (int64_t i = model.tombstones_size(); before.count(NumberOfTombstone(i)) > 0; ++i) {
    changes.gone.push_back(NumberOfTombstone(i));
  }
  return changes;
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

// Writes `changes` from `before`, as of `revision`.
absl::Status WriteChanges(Database& database, const std::string& run_id, int64_t revision,
                          const Parts& before, const Changes& changes) {
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
  for (const int64_t part : changes.gone) RETURN_IF_ERROR(replace(part));
  for (const auto& [part, body] : changes.written) {
    if (before.count(part) > 0) RETURN_IF_ERROR(replace(part));
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
  ASSIGN_OR_RETURN(const int64_t newest, NewestRevision(database, run_id));
  // Parts are as of the newest revision.
  const bool in_parts = model.revision() > newest && AreInOrder(model.nodes());
  const std::string body = in_parts ? RestOf(model).SerializeAsString() : model.SerializeAsString();
  RETURN_IF_ERROR(
      database
          .Prepare("INSERT INTO world_models (run_id, revision, body, in_parts) VALUES (?, ?, ?, ?)"
                   " ON CONFLICT DO NOTHING")
          .Text(run_id)
          .Int(model.revision())
          .Blob(body)
          .Int(in_parts ? 1 : 0)
          .Run());
  if (database.changes() == 0) {
    ASSIGN_OR_RETURN(const v1::WorldModel kept, Read(database, run_id, model.revision()));
    if (kept.SerializeAsString() == model.SerializeAsString()) return absl::OkStatus();
    return absl::FailedPreconditionError(
        absl::StrCat("run ", run_id, " already has another world model with revision ",
                     model.revision(), "; a changed one needs the next revision"));
  }
  if (!in_parts) return absl::OkStatus();
  if (!parts->has_value()) {
    ASSIGN_OR_RETURN(*parts, ReadParts(database, run_id));
  }
  Changes changes = ChangesTo(model, **parts);
  RETURN_IF_ERROR(WriteChanges(database, run_id, model.revision(), **parts, changes));
  for (const int64_t part : changes.gone) (*parts)->erase(part);
  while (!changes.written.empty()) {
    auto part = changes.written.extract(changes.written.begin());
    (**parts)[part.key()] = std::move(part.mapped());
  }
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
