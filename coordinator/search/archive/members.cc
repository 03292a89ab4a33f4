#include "coordinator/search/archive/members.h"

#include <algorithm>

namespace ksearch {

bool Works(const v1::EvaluationLogState& log, const v1::PopulationMember& member) {
  const auto known = log.screened().find(member.candidate_id());
  return known != log.screened().end() && known->second.passed();
}

double Fitness(const v1::EvaluationLogState& log, const v1::PopulationMember& member) {
  const auto known = log.screened().find(member.candidate_id());
  return known != log.screened().end() && known->second.passed() ? known->second.score() : 0;
}

v1::PopulationMember* AddMember(const v1::PopulationMember& member, int32_t last_number,
                                Members* members) {
  v1::PopulationMember* added = members->Add();
  *added = member;
  added->set_number(last_number + 1);
  return added;
}

const v1::PopulationMember* FindMember(const Members& members, int number) {
  // Sorted by number, which removals preserve.
  const auto found = std::lower_bound(
      members.begin(), members.end(), number,
      [](const v1::PopulationMember& member, int wanted) { return member.number() < wanted; });
  return found == members.end() || found->number() != number ? nullptr : &*found;
}

v1::PopulationMember* FindMember(int number, Members* members) {
  return const_cast<v1::PopulationMember*>(FindMember(*members, number));
}

void RemoveMember(int number, Members* members) {
  members->erase(std::remove_if(members->begin(), members->end(),
                                [&](const auto& member) { return member.number() == number; }),
                 members->end());
}

MemberList MembersThat(const Members& members,
                       const std::function<bool(const v1::PopulationMember&)>& wanted) {
  MemberList list;
  for (const v1::PopulationMember& member : members) {
    if (wanted(member)) list.push_back(&member);
  }
  return list;
}

void SortByFitness(const v1::EvaluationLogState& log, MemberList* members) {
  std::sort(members->begin(), members->end(), [&](const auto* a, const auto* b) {
    const double left = Fitness(log, *a);
    const double right = Fitness(log, *b);
    return left != right ? left > right : a->number() < b->number();
  });
}

const v1::PopulationMember* Fittest(const v1::EvaluationLogState& log, const MemberList& members) {
  const v1::PopulationMember* best = nullptr;
  for (const v1::PopulationMember* member : members) {
    if (best == nullptr || Fitness(log, *member) > Fitness(log, *best)) best = member;
  }
  return best;
}

bool Contains(const MemberList& members, const v1::PopulationMember& member) {
  return std::find(members.begin(), members.end(), &member) != members.end();
}

MemberList MembersOf(const google::protobuf::RepeatedField<int32_t>& numbers,
                     const Members& members) {
  MemberList list;
  for (const int number : numbers) {
    const v1::PopulationMember* member = FindMember(members, number);
    if (member != nullptr) list.push_back(member);
  }
  return list;
}

void UpdateArchive(const v1::EvaluationLogState& log, const Members& members,
                   const v1::PopulationMember& member, int most,
                   google::protobuf::RepeatedField<int32_t>* archive) {
  if (std::find(archive->begin(), archive->end(), member.number()) != archive->end()) return;
  if (archive->size() < most) {
    archive->Add(member.number());
    return;
  }
  auto worst = archive->begin();
  double least = 0;
  for (auto number = archive->begin(); number != archive->end(); ++number) {
    const double fitness = Fitness(log, *FindMember(members, *number));
    if (number == archive->begin() || fitness < least) {
      worst = number;
      least = fitness;
    }
  }
  if (!(Fitness(log, member) > least)) return;
  archive->erase(worst);
  archive->Add(member.number());
}

v1::PopulationMember ChildOf(const EndedAttempt& ended) {
  v1::PopulationMember child;
  child.set_candidate_id(ended.attempt.candidate_id());
  child.set_parent(ended.attempt.plan().parent());
  child.set_island(ended.attempt.plan().island());
  child.set_round(ended.attempt.round());
  *child.mutable_features() = ended.attempt.features();
  child.set_idea(ended.attempt.idea());
  return child;
}

v1::PopulationMember GivenMember(const v1::ScreenedProgram& program,
                                 const v1::ProgramFeatures& features, int island) {
  v1::PopulationMember member;
  member.set_candidate_id(program.candidate_id());
  member.set_island(island);
  *member.mutable_features() = features;
  return member;
}

v1::AttemptPlan PlanFrom(const v1::EvaluationLogState& log, const v1::PopulationMember& parent) {
  v1::AttemptPlan plan;
  plan.set_parent(parent.number());
  if (Works(log, parent)) {
    plan.set_kind(v1::AttemptPlan::REFINE);
    plan.set_base_id(parent.candidate_id());
  } else {
    plan.set_kind(v1::AttemptPlan::REPAIR);
    plan.set_failed_id(parent.candidate_id());
  }
  return plan;
}

void ShowAlso(const MemberList& members, v1::AttemptPlan* plan) {
  for (const v1::PopulationMember* member : members) {
    const std::string& id = member->candidate_id();
    const auto& shown = plan->inspiration_ids();
    if (id == plan->base_id() || id == plan->failed_id() ||
        std::find(shown.begin(), shown.end(), id) != shown.end()) {
      continue;
    }
    plan->add_inspiration_ids(id);
  }
}

}  // namespace ksearch
