#include "tests/integration/last_release_proxy.h"

#include <gtest/gtest.h>

#include <fstream>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/grpc_channel.h"
#include "tests/integration/local_cluster.h"

namespace ksearch {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// Forwards a call's headers to the coordinator: a token, a worker's name.
void CopyHeaders(const grpc::ServerContext& from, grpc::ClientContext* to) {
  for (const char* name : {"authorization", kWorkerNameHeader.data()}) {
    const auto header = from.client_metadata().find(name);
    if (header == from.client_metadata().end()) continue;
    to->AddMetadata(name, std::string(header->second.data(), header->second.size()));
  }
}

}  // namespace

LastReleaseProxy::LastReleaseProxy(const std::string& coordinator)
    : coordinator_(v1::WorkerService::NewStub(MakeChannel(coordinator, ClientAccess()))) {
  std::ifstream file(LocalCluster::SourcePath("tests/proto/released_fields.txt"));
  for (std::string line; std::getline(file, line);) {
    released_.insert(line.substr(0, line.find(": ")));
  }
  EXPECT_GT(released_.size(), 500u);
  int port = 0;
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(this);
  ApplyServerSettings(&builder);
  server_ = builder.BuildAndStart();
  EXPECT_NE(server_, nullptr);
  address_ = absl::StrCat("127.0.0.1:", port);
}

LastReleaseProxy::~LastReleaseProxy() { server_->Shutdown(std::chrono::system_clock::now()); }

std::set<std::string> LastReleaseProxy::dropped() {
  MutexLock lock(&mu_);
  return dropped_;
}

void LastReleaseProxy::Strip(Message* message) {
  const Reflection& reflection = *message->GetReflection();
  std::vector<const FieldDescriptor*> set;
  reflection.ListFields(*message, &set);
  for (const FieldDescriptor* field : set) {
    const std::string owner = field->containing_type()->full_name();
    if (owner.rfind("ksearch.", 0) == 0 &&
        !released_.contains(absl::StrCat(owner, " ", field->number()))) {
      reflection.ClearField(message, field);
      MutexLock lock(&mu_);
      dropped_.insert(field->full_name());
    } else if (field->message_type() == nullptr) {
      continue;
    } else if (!field->is_repeated()) {
      Strip(reflection.MutableMessage(message, field));
    } else {
      for (int i = 0; i < reflection.FieldSize(*message, field); ++i) {
        Strip(reflection.MutableRepeatedMessage(message, field, i));
      }
    }
  }
}

grpc::Status LastReleaseProxy::Session(
    grpc::ServerContext* context, grpc::ServerReaderWriter<v1::WorkerDown, v1::WorkerUp>* worker) {
  grpc::ClientContext onward;
  CopyHeaders(*context, &onward);
  const auto coordinator = coordinator_->Session(&onward);
  std::thread upward([&] {
    v1::WorkerUp up;
    while (worker->Read(&up)) {
      Strip(&up);
      if (!coordinator->Write(up)) break;
    }
    coordinator->WritesDone();
    if (context->IsCancelled()) onward.TryCancel();
  });
  v1::WorkerDown down;
  while (coordinator->Read(&down)) {
    Strip(&down);
    if (!worker->Write(down)) break;
  }
  onward.TryCancel();
  const grpc::Status status = coordinator->Finish();
  context->TryCancel();  // ends the reading from the worker
  upward.join();
  return status;
}

grpc::Status LastReleaseProxy::RecordResult(grpc::ServerContext* context,
                                            const v1::RecordResultRequest* request,
                                            v1::RecordResultReply* reply) {
  grpc::ClientContext onward;
  CopyHeaders(*context, &onward);
  v1::RecordResultRequest stripped = *request;
  Strip(&stripped);
  const grpc::Status status = coordinator_->RecordResult(&onward, stripped, reply);
  Strip(reply);
  return status;
}

grpc::Status LastReleaseProxy::FetchBlob(grpc::ServerContext* context,
                                         const v1::FetchBlobRequest* request,
                                         grpc::ServerWriter<v1::BlobChunk>* writer) {
  grpc::ClientContext onward;
  CopyHeaders(*context, &onward);
  v1::FetchBlobRequest stripped = *request;
  Strip(&stripped);
  const auto reader = coordinator_->FetchBlob(&onward, stripped);
  v1::BlobChunk chunk;
  while (reader->Read(&chunk)) {
    if (!writer->Write(chunk)) onward.TryCancel();
  }
  return reader->Finish();
}

}  // namespace ksearch
