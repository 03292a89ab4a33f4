#include "coordinator/scheduler/job_queue.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace ksearch {
namespace {

Requirement Needs(v1::Language language) {
  Requirement requirement;
  requirement.languages = {language};
  return requirement;
}

std::vector<std::string> All(const JobQueue& queue, v1::Language language) {
  std::vector<std::string> jobs;
  queue.Visit([&](const Requirement& r) { return r.languages.front() == language; },
              [&](const std::string& job) {
                jobs.push_back(job);
                return true;
              });
  return jobs;
}

TEST(JobQueueTest, VisitsInOrderOverAllGroups) {
  JobQueue queue;
  queue.Push(Needs(v1::LANGUAGE_CUDA), {0, 3}, "c");
  queue.Push(Needs(v1::LANGUAGE_CPP), {0, 1}, "a");
  queue.Push(Needs(v1::LANGUAGE_CPP), {0, 4}, "d");
  queue.Push(Needs(v1::LANGUAGE_CUDA), {0, 2}, "b");
  std::vector<std::string> jobs;
  queue.Visit([](const Requirement&) { return true; },
              [&](const std::string& job) {
                jobs.push_back(job);
                return jobs.size() < 3;
              });
  EXPECT_EQ(jobs, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(All(queue, v1::LANGUAGE_CPP), (std::vector<std::string>{"a", "d"}));
}

TEST(JobQueueTest, TurnsCountBeforeAge) {
  JobQueue queue;
  queue.Push(Needs(v1::LANGUAGE_CPP), {7, 1}, "b");
  queue.Push(Needs(v1::LANGUAGE_CPP), {3, 2}, "a");
  EXPECT_EQ(All(queue, v1::LANGUAGE_CPP), (std::vector<std::string>{"a", "b"}));
}

TEST(JobQueueTest, RemovedJobsAreGoneAndCounted) {
  JobQueue queue;
  queue.Push(Needs(v1::LANGUAGE_CPP), {0, 1}, "a");
  queue.Push(Needs(v1::LANGUAGE_CPP), {0, 2}, "b");
  queue.Remove(Needs(v1::LANGUAGE_CPP), {0, 1});
  queue.Remove(Needs(v1::LANGUAGE_CPP), {0, 1});
  EXPECT_EQ(queue.size(), 1);
  EXPECT_EQ(All(queue, v1::LANGUAGE_CPP), std::vector<std::string>{"b"});
  queue.Remove(Needs(v1::LANGUAGE_CPP), {0, 2});
  EXPECT_FALSE(queue.HasAny([](const Requirement&) { return true; }));
}

TEST(JobQueueTest, JobThatComesBackKeepsItsTurn) {
  JobQueue queue;
  queue.Push(Needs(v1::LANGUAGE_CPP), {0, 1}, "a");
  queue.Push(Needs(v1::LANGUAGE_CPP), {0, 2}, "b");
  queue.Remove(Needs(v1::LANGUAGE_CPP), {0, 1});
  queue.Push(Needs(v1::LANGUAGE_CPP), {0, 1}, "a");
  EXPECT_EQ(All(queue, v1::LANGUAGE_CPP), (std::vector<std::string>{"a", "b"}));
}

}  // namespace
}  // namespace ksearch
