#ifndef KSEARCH_GPU_WORKER_VERIFIER_TENSORS_MAP_PACKET_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TENSORS_MAP_PACKET_H_

#include <cstdint>
#include <vector>

#include "gpu_worker/verifier/tensors/buffer_sets.h"
#include "gpu_worker/verifier/tensors/workload_case.h"

namespace ksearch {

// Builds the packets of one MAP from a workload's buffers.

// Appends an empty packet. The first packet contains the workload's slots; later ones extend it.
MapPacket& AddPacket(const WorkloadCase& workload, int sets, std::vector<MapPacket>* packets);

// Attaches a piece of memory of `bytes`. The descriptor stays the caller's.
void AddMemory(int fd, int64_t bytes, MapPacket* packet);

// Attaches the page of CallTurns to a packet that gets no further memory.
void AddTurns(int fd, MapPacket* packet);

// Adds a tensor at offset `offset` in the piece of memory that was attached last.
void AddTensor(const TensorArgument& tensor, int set, int64_t offset, MapPacket* packet);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TENSORS_MAP_PACKET_H_
