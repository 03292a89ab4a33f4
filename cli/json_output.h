#ifndef KSEARCH_CLI_JSON_OUTPUT_H_
#define KSEARCH_CLI_JSON_OUTPUT_H_

#include <map>
#include <string>

#include "google/protobuf/message.h"

namespace ksearch {

// Output of --json on standard output: one document, or JSON Lines, as docs/cli.md lists for every
// command. With --json, nothing else may be written there.

// Prints a document; returns kExitOk.
int PrintJson(const google::protobuf::Message& message);
// Prints a document of texts, for results without a message type; returns kExitOk.
int PrintJson(const std::map<std::string, std::string>& fields);
// Prints and flushes a line of JSON Lines.
void PrintJsonLine(const google::protobuf::Message& message);

// Returns `json`, an object, with one more text member. Numbers keep their digits.
std::string WithField(const std::string& json, const std::string& name, const std::string& text);
// Merges two objects whose members have different names.
std::string Joined(const std::string& first, const std::string& second);

}  // namespace ksearch

#endif  // KSEARCH_CLI_JSON_OUTPUT_H_
