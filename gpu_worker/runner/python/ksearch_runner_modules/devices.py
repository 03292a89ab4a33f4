"""Where calls run: the processors, or the one device of a runner that has one."""

import contextlib

from ksearch_runner_modules.tensors import DL_CPU, DL_CUDA

# CU_STREAM_LEGACY of cuda.h, which names the default stream.
LEGACY_STREAM = 1


class Processors:
    """Where calls run without --gpu."""

    tensors = DL_CPU
    name = "cpu"

    def forget(self):
        pass

    def run(self, call, stream):
        call()


class Gpu:
    """The one device of a runner that has one."""

    tensors = DL_CUDA
    name = "cuda"

    def __init__(self, torch):
        self._cuda = torch.cuda
        self._streams = {LEGACY_STREAM: torch.cuda.default_stream()}
        torch.cuda.init()
        # Holds what calls allocate while they are recorded: replays write there for as long as this
        # process lives, so nothing else may ever lie in it.
        self._pool = torch.cuda.MemPool() if hasattr(torch.cuda, "MemPool") else None

    def run(self, call, stream):
        """One call, with its work on `stream`, a CUstream."""
        if stream not in self._streams:
            self._streams[stream] = self._cuda.ExternalStream(stream, device=0)
        # Set every time: the last call may have left another stream.
        self._cuda.set_stream(self._streams[stream])
        with self._recording():
            call()

    def forget(self):
        """Gives back memory that torch keeps for later."""
        self._cuda.empty_cache()

    def _recording(self):
        if self._pool is None or not self._cuda.is_current_stream_capturing():
            return contextlib.nullcontext()
        return self._cuda.use_mem_pool(self._pool)
