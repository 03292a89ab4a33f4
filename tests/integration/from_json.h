#ifndef KSEARCH_TESTS_INTEGRATION_FROM_JSON_H_
#define KSEARCH_TESTS_INTEGRATION_FROM_JSON_H_

#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <string>

namespace ksearch {

// What a command printed with --json; anything else fails the test.
template <typename Message>
Message FromJson(const std::string& json) {
  Message message;
  const auto status = google::protobuf::util::JsonStringToMessage(json, &message);
  EXPECT_TRUE(status.ok()) << status.ToString() << "\n" << json;
  return message;
}

}  // namespace ksearch

#endif  // KSEARCH_TESTS_INTEGRATION_FROM_JSON_H_
