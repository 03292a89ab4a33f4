#ifndef KSEARCH_COORDINATOR_PROPOSER_REPLY_EDIT_OPS_H_
#define KSEARCH_COORDINATOR_PROPOSER_REPLY_EDIT_OPS_H_

#include <string>

#include "coordinator/proposer/reply/field_reader.h"
#include "google/protobuf/struct.pb.h"
#include "proto/world_model.pb.h"

namespace ksearch {

// Converts JSON nodes and operations to edits. Faults are reported to the reader. `path` ends in
// '.'.

// Reads the fields that an edit may set.
v1::NodePatch ReadPatch(const google::protobuf::Struct& node, const std::string& path,
                        FieldReader& reader);
// Reads a whole new node, which must have the fields that are optional in a patch. The difficulty
// defaults to 3, the score to a tenth of the rating, as in K-Search's published code.
v1::NodePatch ReadNewNode(const google::protobuf::Struct& node, const std::string& path,
                          FieldReader& reader);
// Reads the root's notes, the only field of the root that an edit may set.
v1::NodePatch ReadRootNotes(const google::protobuf::Struct& node, const std::string& path,
                            FieldReader& reader);

// Reads the array of operations into one EditOp each, in order.
void ReadOps(const google::protobuf::Value& ops, FieldReader& reader, v1::EditScript* script);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_PROPOSER_REPLY_EDIT_OPS_H_
