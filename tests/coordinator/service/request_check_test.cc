#include "coordinator/service/request_check.h"

#include <functional>
#include <limits>
#include <string>

#include "common/protocol_version.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

using ::testing::HasSubstr;

v1::WorkerHello GoodHello() {
  v1::WorkerHello hello;
  hello.set_protocol_version(kProtocolVersion);
  hello.set_worker_id("w-1");
  hello.set_incarnation("abc");
  hello.add_devices()->set_device_class(v1::DEVICE_CLASS_CPU);
  return hello;
}

v1::RecordResultRequest GoodResult() {
  v1::RecordResultRequest request;
  request.set_lease_id("e-1");
  request.mutable_result()->set_job_id(std::string(64, 'a'));
  request.mutable_result()->set_worker_id("w-1");
  request.mutable_result()->set_attempt(1);
  request.mutable_result()->set_outcome(v1::OUTCOME_PASSED);
  request.mutable_result()->add_workloads()->mutable_candidate()->add_latency_us(1.5);
  return request;
}

v1::WorkerReport GoodReport() {
  v1::WorkerReport report;
  report.set_free_slots(2);
  v1::HeldLease* lease = report.add_leases();
  lease->set_lease_id("e-1");
  lease->set_job_id(std::string(64, 'a'));
  lease->set_attempt(1);
  return report;
}

void ExpectRefused(const absl::Status& status, const std::string& field) {
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << field;
  EXPECT_THAT(std::string(status.message()), HasSubstr(field));
}

TEST(RequestCheckTest, GoodRequestsPass) {
  EXPECT_TRUE(CheckHello(GoodHello()).ok());
  EXPECT_TRUE(CheckReport(GoodReport()).ok());
  EXPECT_TRUE(CheckResult(GoodResult()).ok());
}

TEST(RequestCheckTest, WhatFleetsSayIsChecked) {
  v1::WorkerHello hello = GoodHello();
  hello.set_pool("slurm-h200");
  hello.set_instance("4711_3");
  EXPECT_TRUE(CheckHello(hello).ok());
  hello.set_instance("4711\n3");
  ExpectRefused(CheckHello(hello), "hello.instance");
  hello = GoodHello();
  hello.set_pool(std::string(65, 'a'));
  ExpectRefused(CheckHello(hello), "hello.pool");
  v1::WorkerReport report = GoodReport();
  report.mutable_time_left()->set_seconds(-1);
  ExpectRefused(CheckReport(report), "report.time_left");
  report = GoodReport();
  report.set_leaving_because(std::string(100'000, 'a'));
  ExpectRefused(CheckReport(report), "report.leaving_because");
}

TEST(RequestCheckTest, OtherProtocolVersionIsAPreconditionThatSaysWhatToDo) {
  v1::WorkerHello hello = GoodHello();
  hello.set_protocol_version(kProtocolVersion + 1);
  const absl::Status status = CheckHello(hello);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("same release"));
}

TEST(RequestCheckTest, MalformedHelloNamesTheField) {
  const std::pair<std::string, std::function<void(v1::WorkerHello*)>> faults[] = {
      {"worker_id", [](auto* h) { h->clear_worker_id(); }},
      {"worker_id", [](auto* h) { h->set_worker_id("a b"); }},
      {"worker_id", [](auto* h) { h->set_worker_id(std::string(65, 'a')); }},
      {"incarnation", [](auto* h) { h->clear_incarnation(); }},
      {"name", [](auto* h) { h->set_name(std::string(2000, 'a')); }},
      {"devices", [](auto* h) { h->clear_devices(); }},
      {"devices[0].device_class", [](auto* h) { h->mutable_devices(0)->clear_device_class(); }},
  };
  for (const auto& [field, spoil] : faults) {
    v1::WorkerHello hello = GoodHello();
    spoil(&hello);
    ExpectRefused(CheckHello(hello), field);
  }
}

TEST(RequestCheckTest, MalformedReportNamesTheField) {
  const std::pair<std::string, std::function<void(v1::WorkerReport*)>> faults[] = {
      {"free_slots", [](auto* r) { r->set_free_slots(-1); }},
      {"applied_directive_seq", [](auto* r) { r->set_applied_directive_seq(-1); }},
      {"leases[0].lease_id", [](auto* r) { r->mutable_leases(0)->set_lease_id("../x"); }},
      {"leases[0].job_id", [](auto* r) { r->mutable_leases(0)->set_job_id("x"); }},
      {"leases[0].attempt", [](auto* r) { r->mutable_leases(0)->set_attempt(0); }},
      {"leases[0].returned",
       [](auto* r) { r->mutable_leases(0)->set_returned(std::string(1 << 20, 'x')); }},
  };
  for (const auto& [field, spoil] : faults) {
    v1::WorkerReport report = GoodReport();
    spoil(&report);
    ExpectRefused(CheckReport(report), field);
  }
}

TEST(RequestCheckTest, MalformedResultNamesTheField) {
  const std::pair<std::string, std::function<void(v1::RecordResultRequest*)>> faults[] = {
      {"job_id", [](auto* r) { r->mutable_result()->set_job_id("x"); }},
      {"worker_id", [](auto* r) { r->mutable_result()->clear_worker_id(); }},
      {"lease_id", [](auto* r) { r->clear_lease_id(); }},
      {"attempt", [](auto* r) { r->mutable_result()->set_attempt(0); }},
      {"outcome", [](auto* r) { r->mutable_result()->clear_outcome(); }},
      {"outcome", [](auto* r) { r->mutable_result()->set_outcome(v1::OUTCOME_WORKER_LOST); }},
      {"outcome", [](auto* r) { r->mutable_result()->set_outcome(v1::OUTCOME_CANCELLED); }},
      {"outcome", [](auto* r) { r->mutable_result()->set_outcome(static_cast<v1::Outcome>(99)); }},
      {"message", [](auto* r) { r->mutable_result()->set_message(std::string(1 << 20, 'x')); }},
      {"workloads[0].candidate",
       [](auto* r) {
         r->mutable_result()->mutable_workloads(0)->mutable_candidate()->set_latency_us(
             0, std::numeric_limits<double>::infinity());
       }},
      {"workloads[0].baseline",
       [](auto* r) {
         r->mutable_result()->mutable_workloads(0)->mutable_baseline()->set_median_us(-1);
       }},
  };
  for (const auto& [field, spoil] : faults) {
    v1::RecordResultRequest request = GoodResult();
    spoil(&request);
    ExpectRefused(CheckResult(request), field);
  }
}

}  // namespace
}  // namespace ksearch
