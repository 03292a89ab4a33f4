#ifndef KSEARCH_CLI_JSON_OUTPUT_H_
#define KSEARCH_CLI_JSON_OUTPUT_H_

#include <map>
#include <string>

#include "google/protobuf/message.h"

namespace ksearch {

// What --json prints on standard output: one document, or JSON Lines, as docs/cli.md lists for
// every command. Nothing else may be written there with --json.

// A document; returns kExitOk.
int PrintJson(const google::protobuf::Message& message);
// A document of texts, for what no message describes; returns kExitOk.
int PrintJson(const std::map<std::string, std::string>& fields);
// A line of JSON Lines, written at once.
void PrintJsonLine(const google::protobuf::Message& message);

// `json`, an object, with one text more. Numbers and their digits stay as they are.
std::string WithField(const std::string& json, const std::string& name, const std::string& text);
// One object with the members of two, which have none of the same name.
std::string Joined(const std::string& first, const std::string& second);

}  // namespace ksearch

#endif  // KSEARCH_CLI_JSON_OUTPUT_H_
