#ifndef KSEARCH_COORDINATOR_WORLD_MODEL_WORLD_MODEL_H_
#define KSEARCH_COORDINATOR_WORLD_MODEL_WORLD_MODEL_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "coordinator/world_model/tree_index.h"
#include "proto/world_model.pb.h"

namespace ksearch {

// The world model as a value: queries on a v1::WorldModel, and the changes that the search itself
// makes to it. Changes by a language model go through edit.h. Pure functions, no I/O. Returned
// pointers are into the argument and are valid until its next change.

inline constexpr char kRootId[] = "root";
inline constexpr int kMaxNodeIdLength = 64;
// The number of lessons kept per node (the newest ones), and the maximum length of one in bytes.
inline constexpr int kMaxLessons = 16;
inline constexpr int kMaxLessonBytes = 400;

// A tree that consists only of the root.
v1::WorldModel NewWorldModel();

const v1::Node* FindNode(const v1::WorldModel& model, absl::string_view node_id);
v1::Node* FindMutableNode(v1::WorldModel* model, absl::string_view node_id);
const v1::Node& RootOf(const v1::WorldModel& model);
// In order of insertion.
std::vector<const v1::Node*> ChildrenOf(const v1::WorldModel& model, absl::string_view node_id);
// Root first, the node itself last; empty for an unknown id.
std::vector<const v1::Node*> PathFromRoot(const v1::WorldModel& model, absl::string_view node_id);

bool IsRoot(const v1::WorldModel& model, const v1::Node& node);
bool IsSolved(const v1::Node& node);
// Open, with an action, and not given up as too hard.
bool IsOpenAction(const v1::WorldModel& model, const v1::Node& node);
// Open action nodes whose parent is the root or solved, in order of insertion.
std::vector<const v1::Node*> Frontier(const v1::WorldModel& model);
// The indices of the frontier's nodes.
std::vector<int> FrontierPlaces(const TreeIndex& index);
// Number of open action nodes, executable or not.
int CountOpenActions(const v1::WorldModel& model);
// Returns true if `node_id` has a child that is an open action.
bool HasOpenChild(const v1::WorldModel& model, absl::string_view node_id);
// The solved node with the greatest score, the larger id on a tie; null if none is solved.
const v1::Node* BestNode(const v1::WorldModel& model);

// A legal id made from `wanted`: illegal characters become '_', and it is cut to kMaxNodeIdLength;
// may be empty.
std::string SanitizedId(absl::string_view wanted);
// "<prefix><task>_r<round>_<suffix><k>" with the least k that is free and greater than `*last`
// (null: than 0), which becomes k; the task's name is cut to 48 characters, or to what keeps the id
// legal.
std::string FreshId(const v1::WorldModel& model, absl::string_view prefix, absl::string_view task,
                    int round, absl::string_view suffix = "", int* last = nullptr);

// Appends `node` (its id must be free, its parent known) and gives it its insertion index.
v1::Node* AppendNode(v1::WorldModel* model, v1::Node node);
// Closes an open node (or seeds the root) with the best passing candidate of its cycle and makes it
// the active node. FAILED_PRECONDITION if it is solved already, NOT_FOUND if there is no such node.
absl::Status AttachSolution(v1::WorldModel* model, absl::string_view node_id,
                            const v1::Solution& solution);
// Removes a refused program from a node: a solved node becomes open again; the root loses its
// program. No effect on a node that is not solved.
void WithdrawSolution(v1::WorldModel* model, absl::string_view node_id);
// Counts a program of the node that a confirmation refused; the node is closed at the `limit`-th.
void CountRefusal(v1::WorldModel* model, absl::string_view node_id, int limit);
// Records the confirmed speed-up over the baseline with every node that this program solved.
void NoteConfirmedSpeedup(v1::WorldModel* model, const std::string& candidate_id, double speedup);
// Appends a lesson; removes the oldest if there are more than kMaxLessons.
void AddLesson(v1::WorldModel* model, absl::string_view node_id, absl::string_view lesson);
// Records what made a program of this node faster; the same limits apply.
void AddGain(v1::WorldModel* model, absl::string_view node_id, absl::string_view gain);
// Records that a cycle ended without a pass: multiplies the action's score by `decay`, and closes
// the node once there were `limit` such cycles. Returns true if it was closed now.
bool RecordTooHard(v1::WorldModel* model, absl::string_view node_id, double decay, int limit,
                   int round);
// Removes an open leaf and, if asked to, leaves a tombstone.
void RemoveLeaf(v1::WorldModel* model, absl::string_view node_id, absl::string_view reason,
                int round, bool leave_tombstone);
// The tombstone that forbids this intent: the same title and choice anywhere, or the same title, or
// the same decision and choice, under the same parent. Case and spacing do not count. Null if none.
const v1::Tombstone* FindTombstone(const v1::WorldModel& model, const v1::Node& intent);

// INTERNAL lists every broken invariant: one root, unique legal ids, known parents, no cycles,
// numbers in range, rising insertion indices, solutions only with a candidate id.
absl::Status CheckInvariants(const v1::WorldModel& model);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_WORLD_MODEL_WORLD_MODEL_H_
