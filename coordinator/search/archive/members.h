#ifndef KSEARCH_COORDINATOR_SEARCH_ARCHIVE_MEMBERS_H_
#define KSEARCH_COORDINATOR_SEARCH_ARCHIVE_MEMBERS_H_

#include <functional>
#include <string>
#include <vector>

#include "coordinator/search/attempts/attempt_policy.h"
#include "proto/search_state.pb.h"

namespace ksearch {

// The programs of a population, in the order of their numbers. A member is a numbered place in the
// population; the same program may have several.
using Members = google::protobuf::RepeatedPtrField<v1::PopulationMember>;
using MemberList = std::vector<const v1::PopulationMember*>;

// The score of a program that works, else 0: a program that failed or was refused ranks last in a
// population.
double Fitness(const v1::EvaluationLogState& log, const v1::PopulationMember& member);
// Returns true if the program passed and was not refused later.
bool Works(const v1::EvaluationLogState& log, const v1::PopulationMember& member);

// Adds a member and gives it the number `last_number` + 1, which is stored in `last_number`.
v1::PopulationMember* AddMember(const v1::PopulationMember& member, int32_t last_number,
                                Members* members);
// Null if there is none with this number, or if it was removed.
const v1::PopulationMember* FindMember(const Members& members, int number);
v1::PopulationMember* FindMember(int number, Members* members);
void RemoveMember(int number, Members* members);

// Returns the members for which `wanted` is true.
MemberList MembersThat(const Members& members,
                       const std::function<bool(const v1::PopulationMember&)>& wanted);
// The fittest first; among equals, the one that was added first.
void SortByFitness(const v1::EvaluationLogState& log, MemberList* members);
// Null if there is none.
const v1::PopulationMember* Fittest(const v1::EvaluationLogState& log, const MemberList& members);
bool Contains(const MemberList& members, const v1::PopulationMember& member);

// The members with these numbers, in the order of `numbers`, without those that were removed.
MemberList MembersOf(const google::protobuf::RepeatedField<int32_t>& numbers,
                     const Members& members);
// Appends `member` to an archive of the fittest. If the archive already has `most` members, the
// worst one (among equals, the oldest) is removed if it is less fit; otherwise `member` is not
// added. Every number in the archive must be that of a member.
void UpdateArchive(const v1::EvaluationLogState& log, const Members& members,
                   const v1::PopulationMember& member, int most,
                   google::protobuf::RepeatedField<int32_t>* archive);

// Makes a member from the program of an ended attempt, with its program, idea, features and round,
// and the plan's island and parent. Its number is 0.
v1::PopulationMember ChildOf(const EndedAttempt& ended);
v1::PopulationMember GivenMember(const v1::ScreenedProgram& program,
                                 const v1::ProgramFeatures& features, int island);

// A plan that starts from `parent`: an improvement if it passed and was not refused, else a repair.
v1::AttemptPlan PlanFrom(const v1::EvaluationLogState& log, const v1::PopulationMember& parent);
// Adds the members to those shown in the prompt, except programs that it already shows.
void ShowAlso(const MemberList& members, v1::AttemptPlan* plan);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_ARCHIVE_MEMBERS_H_
