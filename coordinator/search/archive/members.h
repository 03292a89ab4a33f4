#ifndef KSEARCH_COORDINATOR_SEARCH_ARCHIVE_MEMBERS_H_
#define KSEARCH_COORDINATOR_SEARCH_ARCHIVE_MEMBERS_H_

#include <functional>
#include <string>
#include <vector>

#include "coordinator/search/attempts/attempt_policy.h"
#include "proto/search_state.pb.h"

namespace ksearch {

// The programs of a population. A member is a place in it, named by a number: the same program may
// have several. In the order of their numbers.
using Members = google::protobuf::RepeatedPtrField<v1::PopulationMember>;
using MemberList = std::vector<const v1::PopulationMember*>;

// The score of a program that passed and stands, else 0: a program that failed or was refused
// ranks last in a population.
double Fitness(const v1::EvaluationLogState& log, const v1::PopulationMember& member);
bool Stands(const v1::EvaluationLogState& log, const v1::PopulationMember& member);

// Adds a member, whose number is one more than `last_number`, which is raised.
v1::PopulationMember* AddMember(const v1::PopulationMember& member, int32_t last_number,
                                Members* members);
// Null: there is none with this number, or it was removed.
const v1::PopulationMember* FindMember(const Members& members, int number);
v1::PopulationMember* FindMember(int number, Members* members);
void RemoveMember(int number, Members* members);

// Those for which `wanted` is true.
MemberList MembersThat(const Members& members,
                       const std::function<bool(const v1::PopulationMember&)>& wanted);
// The fittest first; of equal ones the one that came first.
void SortByFitness(const v1::EvaluationLogState& log, MemberList* members);
// Null if there is none.
const v1::PopulationMember* Fittest(const v1::EvaluationLogState& log, const MemberList& members);
bool Contains(const MemberList& members, const v1::PopulationMember& member);

// The members with these numbers, in the order of `numbers`; those that are gone are left out.
MemberList MembersOf(const google::protobuf::RepeatedField<int32_t>& numbers,
                     const Members& members);
// Puts `member` into an archive of the fittest, at its end; if `most` are in it, the worst one has
// to be less fit, and goes; of equal ones the one that is in it longest. Every number of the
// archive is that of a member.
void UpdateArchive(const v1::EvaluationLogState& log, const Members& members,
                   const v1::PopulationMember& member, int most,
                   google::protobuf::RepeatedField<int32_t>* archive);

// The member that the program of an ended attempt becomes: program, idea, features, round, and the
// plan's island and parent. Its number is 0.
v1::PopulationMember ChildOf(const EndedAttempt& ended);
v1::PopulationMember GivenMember(const v1::ScreenedProgram& program,
                                 const v1::ProgramFeatures& features, int island);

// A plan that makes something of `parent`: an improvement if it stands, a repair if it does not.
v1::AttemptPlan PlanFrom(const v1::EvaluationLogState& log, const v1::PopulationMember& parent);
// Adds them to what the prompt shows; programs that it shows already are left out.
void ShowAlso(const MemberList& members, v1::AttemptPlan* plan);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_ARCHIVE_MEMBERS_H_
