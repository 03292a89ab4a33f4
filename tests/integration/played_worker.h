#ifndef KSEARCH_TESTS_INTEGRATION_PLAYED_WORKER_H_
#define KSEARCH_TESTS_INTEGRATION_PLAYED_WORKER_H_

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "common/grpc_channel.h"
#include "common/protocol_version.h"
#include "proto/worker_service.grpc.pb.h"

namespace ksearch {

// The first message of a worker with one device, whose toolkit builds the language.
inline v1::WorkerUp PlayedHello(const std::string& worker_id, v1::DeviceClass device_class,
                                v1::Language language, const v1::DeviceFingerprint& fingerprint) {
  v1::WorkerUp up;
  v1::WorkerHello* hello = up.mutable_hello();
  hello->set_protocol_version(kProtocolVersion);
  hello->set_worker_id(worker_id);
  hello->set_name(worker_id);
  hello->set_incarnation("1");
  v1::DeviceCapability* device = hello->add_devices();
  device->set_device_class(device_class);
  *device->mutable_fingerprint() = fingerprint;
  device->mutable_fingerprint()->clear_toolkit();
  device->add_languages(language);
  v1::LanguageToolkit* toolkit = device->add_toolkits();
  toolkit->set_language(language);
  toolkit->set_toolkit(fingerprint.toolkit());
  return up;
}

// A worker whose every message the test sends.
class PlayedWorker {
 public:
  PlayedWorker(std::shared_ptr<grpc::Channel> channel, const std::string& worker_id)
      : stub_(v1::WorkerService::NewStub(channel)), worker_id_(worker_id) {}
  ~PlayedWorker() { context_.TryCancel(); }

  // The first offer, or how the session ended without one.
  absl::StatusOr<v1::JobOffer> Join(int free_slots) {
    stream_ = stub_->Session(&context_);
    v1::WorkerUp up;
    v1::WorkerHello* hello = up.mutable_hello();
    hello->set_protocol_version(kProtocolVersion);
    hello->set_worker_id(worker_id_);
    hello->set_name(worker_id_);
    hello->set_incarnation("played");
    hello->add_devices()->set_device_class(v1::DEVICE_CLASS_CPU);
    hello->mutable_devices(0)->add_languages(v1::LANGUAGE_CPP);
    stream_->Write(up);
    up.mutable_report()->set_free_slots(free_slots);
    up.mutable_report()->mutable_health()->set_healthy(true);
    stream_->Write(up);
    v1::WorkerDown down;
    while (stream_->Read(&down)) {
      if (down.offers_size() > 0) return down.offers(0);
      if (free_slots == 0) return v1::JobOffer();
    }
    return FromGrpc(stream_->Finish());
  }
  absl::StatusCode Fetch(const v1::JobOffer& offer) {
    grpc::ClientContext context;
    v1::FetchBlobRequest request;
    request.set_sha256(offer.spec().task_sha256());
    const auto reader = stub_->FetchBlob(&context, request);
    v1::BlobChunk chunk;
    while (reader->Read(&chunk)) {
    }
    return FromGrpc(reader->Finish()).code();
  }
  absl::StatusCode Record(const v1::JobOffer& offer, const std::string& worker_id) {
    v1::RecordResultRequest request;
    request.set_lease_id(offer.lease_id());
    request.mutable_result()->set_job_id(offer.job_id());
    request.mutable_result()->set_attempt(offer.attempt());
    request.mutable_result()->set_worker_id(worker_id);
    request.mutable_result()->set_outcome(v1::OUTCOME_COMPILE_ERROR);
    grpc::ClientContext context;
    v1::RecordResultReply reply;
    const absl::Status status = FromGrpc(stub_->RecordResult(&context, request, &reply));
    EXPECT_TRUE(!status.ok() || reply.disposition() == v1::RecordResultReply::RECORDED);
    return status.code();
  }

 private:
  const std::unique_ptr<v1::WorkerService::Stub> stub_;
  const std::string worker_id_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::WorkerUp, v1::WorkerDown>> stream_;
};

}  // namespace ksearch

#endif  // KSEARCH_TESTS_INTEGRATION_PLAYED_WORKER_H_
