// What this version is made with.
#pragma once

constexpr int kThreads = 256;
constexpr bool kStreaming = true;
constexpr int kBlocksPerProcessor = 4;
