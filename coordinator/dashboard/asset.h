#ifndef KSEARCH_COORDINATOR_DASHBOARD_ASSET_H_
#define KSEARCH_COORDINATOR_DASHBOARD_ASSET_H_

#include <vector>

#include "absl/strings/string_view.h"

namespace ksearch::dashboard {

// A file of the page, compiled into the binary. page/embed.cmake generates the table at build time.
struct Asset {
  absl::string_view path;  // "/app.js"; the page itself is "/"
  absl::string_view content_type;
  absl::string_view content;
  absl::string_view gzip;  // gzip-compressed, as sent with `Content-Encoding: gzip`
};

const std::vector<Asset>& Assets();

// Identifies this version of all assets together. The page holds it and every response repeats it,
// so that a page from before an upgrade notices.
absl::string_view AssetsVersion();

}  // namespace ksearch::dashboard

#endif  // KSEARCH_COORDINATOR_DASHBOARD_ASSET_H_
