#ifndef KSEARCH_BENCH_AGREEMENT_AGREEMENT_CASE_H_
#define KSEARCH_BENCH_AGREEMENT_AGREEMENT_CASE_H_

#include <string>

#include "coordinator/search/attempts/attempt_policy.h"
#include "google/protobuf/message.h"
#include "nlohmann/json.hpp"

namespace ksearch {

// Answers cases for ksearch_agreement_bench, in the form in which a script wrote them that asked
// the published program the same. Each function takes one case and returns this project's result.
// The program ends if a case lacks a required field, because the scripts are trusted.
using Json = nlohmann::json;

// {tree, reply, task, round, max_difficulty}: a reply's edits applied to a tree, and what is picked
// next. trees.cc.
Json EditedTree(const Json& each);
// {rounds, window, max_difficulty, task, replies}: a whole search by preset paper, answered by
// `replies` in turn. traces.cc.
Json Trace(const Json& each);
// {strategy, settings, state, what, draws, seed, ...}: how often each choice was made, by what was
// chosen. populations.cc.
Json Draws(const Json& each);
// {settings, programs}: a population after these programs came. populations.cc.
Json Inserted(const Json& each);
// {arms, rules}: how often each arm is chosen, or {gains}: what the arms' books hold after these
// gains. models.cc.
Json ModelShares(const Json& each);

// `json`, a message as proto3 maps it to JSON.
void ReadMessage(const Json& json, google::protobuf::Message* message);

}  // namespace ksearch

#endif  // KSEARCH_BENCH_AGREEMENT_AGREEMENT_CASE_H_
