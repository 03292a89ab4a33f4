#ifndef KSEARCH_COORDINATOR_PROPOSER_REPLY_EDIT_OPS_H_
#define KSEARCH_COORDINATOR_PROPOSER_REPLY_EDIT_OPS_H_

#include <string>

#include "coordinator/proposer/reply/field_reader.h"
#include "google/protobuf/struct.pb.h"
#include "proto/world_model.pb.h"

namespace ksearch {

// JSON nodes and operations to edits; faults go to the reader. `path` ends in '.'.

// The fields an edit may set.
v1::NodePatch ReadPatch(const google::protobuf::Struct& node, const std::string& path,
                        FieldReader& reader);
// A whole new node: what a patch may leave out, it must have. Difficulty defaults to 3, the score
// to a tenth of the rating, as in K-Search's published code.
v1::NodePatch ReadNewNode(const google::protobuf::Struct& node, const std::string& path,
                          FieldReader& reader);
// Only the notes of the root can be told.
v1::NodePatch ReadRootNotes(const google::protobuf::Struct& node, const std::string& path,
                            FieldReader& reader);

// The array of operations, one EditOp each, in order.
void ReadOps(const google::protobuf::Value& ops, FieldReader& reader, v1::EditScript* script);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_PROPOSER_REPLY_EDIT_OPS_H_
