// usage: kubernetes_steps POOL_FILE
// Does the steps of standard input, one a line (fleet_steps.h), with the pool of a textproto file,
// and prints what came of each as a line of JSON. record_kubernetes.py starts it.
#include <cstdio>
#include <iostream>
#include <string>

#include "autoscaler/fleet/kubernetes_fleet.h"
#include "common/textproto.h"
#include "tests/autoscaler/fleet_steps.h"

int main(int argc, char** argv) {
  ksearch::v1::WorkerPool pool;
  const absl::Status read = argc == 2 ? ksearch::ReadTextproto(argv[1], &pool)
                                      : absl::InvalidArgumentError("give one file with a pool");
  if (!read.ok()) {
    std::fprintf(stderr, "%s\n", std::string(read.message()).c_str());
    return 2;
  }
  auto provider = ksearch::KubernetesFleet::Create(pool);
  if (!provider.ok()) {
    std::fprintf(stderr, "%s\n", std::string(provider.status().message()).c_str());
    return 2;
  }
  ksearch::FleetSteps steps(provider->get());
  for (std::string line; std::getline(std::cin, line);) {
    std::printf("%s\n", steps.Do(line).dump().c_str());
    std::fflush(stdout);
  }
  return 0;
}
