#ifndef KSEARCH_COORDINATOR_DASHBOARD_ASSET_H_
#define KSEARCH_COORDINATOR_DASHBOARD_ASSET_H_

#include <vector>

#include "absl/strings/string_view.h"

namespace ksearch::dashboard {

// A file of the page, part of the binary: page/embed.cmake writes their table when building.
struct Asset {
  absl::string_view path;  // "/app.js"; the page itself is "/"
  absl::string_view content_type;
  absl::string_view content;
  absl::string_view gzip;  // the content as `Content-Encoding: gzip` carries it
};

const std::vector<Asset>& Assets();

// Names this version of all of them together; the page holds it, too, and every answer tells it, so
// that a page from before an upgrade notices.
absl::string_view AssetsVersion();

}  // namespace ksearch::dashboard

#endif  // KSEARCH_COORDINATOR_DASHBOARD_ASSET_H_
