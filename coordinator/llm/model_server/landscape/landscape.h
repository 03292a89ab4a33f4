#ifndef KSEARCH_COORDINATOR_LLM_MODEL_SERVER_LANDSCAPE_LANDSCAPE_H_
#define KSEARCH_COORDINATOR_LLM_MODEL_SERVER_LANDSCAPE_LANDSCAPE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/landscape.pb.h"

namespace ksearch {

// A program as the index of the chosen value for each parameter.
using LandscapePoint = std::vector<int>;

// A set of programs with known speeds (proto/landscape.proto), with every default filled in.
// Immutable.
class Landscape {
 public:
  // Reads a landscape from a file of at most 1 MiB.
  static absl::StatusOr<Landscape> Load(const std::string& path);
  // INVALID_ARGUMENT lists all faults, one a line, each as "<name>: parameters[2].values[0].factor
  // ...".
  static absl::StatusOr<Landscape> Parse(absl::string_view text, absl::string_view name);

  const v1::Landscape& spec() const { return spec_; }
  int parameters() const { return spec_.parameters_size(); }
  int values(int parameter) const { return spec_.parameters(parameter).values_size(); }
  // nullopt if there is no such parameter.
  std::optional<int> FindParameter(absl::string_view name) const;
  std::optional<int> FindValue(int parameter, absl::string_view name) const;

  const LandscapePoint& start() const { return start_; }
  // Latency relative to the program with every parameter at its start.
  double Cost(const LandscapePoint& point) const;
  // Steps of work that the program does in a call, at least one.
  int64_t Work(const LandscapePoint& point) const;
  bool Meets(const google::protobuf::RepeatedPtrField<v1::LandscapeCondition>& conditions,
             const LandscapePoint& point) const;
  // Returns the lowest cost of any point; nullopt if there are more than 2^20 points, which are too
  // many to try.
  std::optional<double> LeastCost() const;

  // "tile=8 layout=rows": every parameter, in the landscape's order.
  std::string Write(const LandscapePoint& point) const;
  // Parses what Write wrote. nullopt if it does not choose a value for each parameter of this
  // landscape.
  std::optional<LandscapePoint> Read(absl::string_view text) const;

 private:
  double RawCost(const LandscapePoint& point) const;

  v1::Landscape spec_;
  LandscapePoint start_;
  double start_cost_ = 1;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_MODEL_SERVER_LANDSCAPE_LANDSCAPE_H_
