#include "bench/served_gateway.h"

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/digest.h"
#include "common/grpc_channel.h"
#include "common/log.h"

namespace ksearch {

ServedGateway::ServedGateway()
    : folder_(
          (std::filesystem::temp_directory_path() / ("ksearch-bench-" + RandomHex(6))).string()) {
  Store::Options options;
  options.path = folder_ + "/ksearch.db";
  auto store = Store::Open(options);
  CHECK_OK(store.status());
  store_ = *std::move(store);
  gateway_ = std::make_unique<WorkerGateway>(WorkerGateway::Options(), store_.get());
}

std::string ServedGateway::Serve() {
  CHECK(server_ == nullptr);
  service_ = std::make_unique<WorkerService>(gateway_.get());
  grpc::ServerBuilder builder;
  ApplyServerSettings(&builder);
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(service_.get());
  server_ = builder.BuildAndStart();
  CHECK(server_ != nullptr && port != 0);
  return absl::StrCat("127.0.0.1:", port);
}

ServedGateway::~ServedGateway() {
  gateway_->Shutdown();
  if (server_ != nullptr) {
    server_->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(1));
  }
  server_.reset();
  service_.reset();
  gateway_.reset();
  store_.reset();
  std::filesystem::remove_all(folder_);
}

}  // namespace ksearch
