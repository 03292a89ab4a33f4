#include "gpu_worker/verifier/tensors/map_packet.h"

#include "common/call_turns.h"

namespace ksearch {

MapPacket& AddPacket(const WorkloadCase& workload, int sets, std::vector<MapPacket>* packets) {
  MapPacket& packet = packets->emplace_back();
  packet.request.set_append(packets->size() > 1);
  packet.request.set_sets(sets);
  if (packets->size() == 1) {
    for (const v1::ArgumentSlot& slot : workload.slots()) *packet.request.add_slots() = slot;
  }
  return packet;
}

void AddMemory(int fd, int64_t bytes, MapPacket* packet) {
  packet->fds.push_back(fd);
  packet->request.add_memory_bytes(bytes);
}

void AddTurns(int fd, MapPacket* packet) {
  AddMemory(fd, CallTurns::kBytes, packet);
  packet->request.set_turns(true);
}

void AddTensor(const TensorArgument& tensor, int set, int64_t offset, MapPacket* packet) {
  v1::MappedBuffer* const mapped = packet->request.add_buffers();
  mapped->set_memory(packet->request.memory_bytes_size() - 1);
  mapped->set_offset(offset);
  mapped->set_set(set);
  mapped->set_slot(tensor.slot);
  mapped->set_tensor_bytes(tensor.bytes);
  mapped->set_output(tensor.output);
}

}  // namespace ksearch
