// What this version is made with.
#pragma once

constexpr int kThreads = 256;
constexpr bool kStreaming = false;
constexpr int kBlocksPerProcessor = 2;
