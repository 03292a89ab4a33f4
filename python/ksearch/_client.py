"""The client itself."""

import os
import pathlib
import uuid

from ksearch import _protos
from ksearch._address import default_address, is_local

try:
    import grpc
except ImportError as error:
    raise ImportError("ksearch needs grpcio and protobuf: pip install 'ksearch[client]'") from error

# As the command line's: a reply may hold a large program and its measurements.
_MOST_REPLY_BYTES = 64 << 20


class Error(Exception):
    """A call failed: the coordinator refused it or could not be reached.

    `code` is the name of the gRPC status, e.g. "NOT_FOUND".
    """

    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


class Best:
    """The best confirmed program of a run."""

    def __init__(self, reply):
        self.reply = reply  # the BestReply
        self.run = reply.run_id
        self.task = reply.task
        self.candidate = reply.best.candidate_id
        self.speedup = reply.best.speedup  # over the baseline, and its interval
        self.speedup_low = reply.best.speedup_low
        self.speedup_high = reply.best.speedup_high
        self.files = {file.path: file.content for file in reply.sources.files}

    def save(self, folder):
        """Writes the program's files below `folder`; returns their paths."""
        folder = pathlib.Path(folder)
        paths = []
        for name, content in self.files.items():
            relative = pathlib.PurePosixPath(name)
            # A model wrote the path.
            if relative.is_absolute() or ".." in relative.parts:
                raise Error("INVALID_ARGUMENT", f"the program has a file outside of its folder: {name!r}")
            path = folder / relative
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")
            paths.append(path)
        return paths

    def __repr__(self):
        return (f"<Best {self.candidate[:12]} of {self.run}: {self.speedup:.2f}x "
                f"[{self.speedup_low:.2f}, {self.speedup_high:.2f}] over the baseline>")


class Client:
    """A client of one coordinator. `call("GetRun", run_id="last")` calls any RPC of its SearchService.

    address: HOST:PORT or unix:PATH; default: as `ksearch.default_address()` says.
    token: an access token; default: that of KSEARCH_TOKEN. It is sent over TLS, or to this machine, only.
    ca_file: PEM of the authority to trust; enables TLS.
    timeout: seconds that a call may take.
    """

    def __init__(self, address=None, token=None, ca_file=None, timeout=30.0):
        self.address = address or default_address()
        self.timeout = timeout
        token = token or os.environ.get("KSEARCH_TOKEN", "").strip()
        self._metadata = (("authorization", f"Bearer {token}"),) if token else ()
        options = [("grpc.max_receive_message_length", _MOST_REPLY_BYTES)]
        if ca_file:
            roots = pathlib.Path(ca_file).read_bytes()
            self._channel = grpc.secure_channel(self.address, grpc.ssl_channel_credentials(roots), options)
        elif is_local(self.address):
            self._channel = grpc.insecure_channel(self.address, options)
        else:
            raise Error("INVALID_ARGUMENT", f"{self.address} is another machine: give ca_file, so that TLS is used, "
                        "or forward a port: ssh -N -L 7400:127.0.0.1:7400 HOST")
        self._methods = _protos.methods()

    def close(self):
        self._channel.close()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def call(self, method, request=None, timeout=None, **fields):
        """One RPC: its reply, or an iterator over its replies. Give the request's message, or its fields."""
        if method not in self._methods:
            raise Error("UNIMPLEMENTED", f"there is no method {method!r}; known: {', '.join(sorted(self._methods))}")
        path, request_class, reply_class, streams = self._methods[method]
        if request is None:
            try:
                request = request_class(**fields)
            except (TypeError, ValueError) as error:
                raise Error("INVALID_ARGUMENT", f"{method}: {error}") from error
        kind = self._channel.unary_stream if streams else self._channel.unary_unary
        stub = kind(path, request_serializer=request_class.SerializeToString,
                    response_deserializer=reply_class.FromString)
        try:
            if streams:
                return self._stream(stub(request, metadata=self._metadata, timeout=timeout))
            return stub(request, metadata=self._metadata, timeout=timeout or self.timeout)
        except grpc.RpcError as error:
            raise self._error(error) from None

    def _stream(self, replies):
        try:
            yield from replies
        except grpc.RpcError as error:
            raise self._error(error) from None
        finally:
            replies.cancel()

    def _error(self, error):
        code, text = error.code().name, error.details()
        if code == "UNAVAILABLE":
            text = f"no coordinator answers at {self.address} ({text}); `ksearch up` starts one of your own"
        return Error(code, text)

    def start(self, task, model="", provider="", language=None, rounds=None, parallel=None, budget_usd=None,
              strategy="", seed=None, config=None, wait_for_workers=10.0, without_workers=False):
        """Starts a search and returns its id. It continues by itself: watch() and status() follow it.

        model may be "PROVIDER/NAME", e.g. "openai/gpt-5.4". config is a dict with any other field of RunConfig
        (proto/config.proto), e.g. {"world_model": {"stagnation_window": 3}}.
        """
        if model and not provider and "/" in model:
            provider, model = model.split("/", 1)
        fields = dict(config or {})
        given = {"task": task, "model": model, "provider": provider, "strategy": strategy, "rounds": rounds,
                 "parallel": parallel, "seed": seed}
        fields.update({name: value for name, value in given.items() if value not in (None, "")})
        if language:
            word = language.upper()
            fields["language"] = word if word.startswith("LANGUAGE_") else "LANGUAGE_" + word
        if budget_usd is not None:
            fields["budget"] = {**fields.get("budget", {}), "usd": str(budget_usd)}
        request = _protos.message("StartRunRequest")()
        from google.protobuf import json_format
        try:
            json_format.ParseDict({"request_id": uuid.uuid4().hex, "config": fields,
                                   "without_workers": without_workers,
                                   "wait_for_workers": f"{float(wait_for_workers)}s"}, request)
        except json_format.ParseError as error:
            raise Error("INVALID_ARGUMENT", f"start: {error}") from error
        if without_workers:
            request.ClearField("wait_for_workers")
        return self.call("StartRun", request, timeout=self.timeout + wait_for_workers).run_id

    def status(self, run="last"):
        """Where a run stands: a RunStatus. run: its id, a unique prefix, or "last"."""
        return self.call("GetRun", run_id=run)

    def runs(self):
        """All runs, newest first, as RunStatus messages."""
        return list(self.call("ListRuns").runs)

    def watch(self, run="last", after=0):
        """Yields (RunEvent, RunStatus) for what has happened after event number `after`, and for what happens,
        until the run ends."""
        for reply in self.call("WatchRun", run_id=run, after_seq=after):
            if reply.HasField("event"):
                yield reply.event, reply.status

    def wait(self, run="last"):
        """Waits until a run has ended; its last RunStatus."""
        for _ in self.watch(run):
            pass
        return self.status(run)

    def best(self, run="last"):
        """The best confirmed program. Error with code NOT_FOUND: none is confirmed yet."""
        return Best(self.call("GetBest", run_id=run))

    def stop(self, run="last"):
        """Asks a run to stop: no new model call or evaluation begins. It can be resumed."""
        return self.call("StopRun", run_id=run)

    def pause(self, run="last"):
        """No new model call or evaluation begins until unpause(); the run stays active."""
        return self.call("SteerRun", run_id=run, request_id=uuid.uuid4().hex, pause=True)

    def unpause(self, run="last"):
        """Ends a pause."""
        return self.call("SteerRun", run_id=run, request_id=uuid.uuid4().hex, pause=False)

    @staticmethod
    def state(status):
        """In a word: "running", "stopping", "stopped", "finished", "failed" or "out_of_budget"."""
        return _protos.enum_name("RunState", status.state).replace("RUN_STATE_", "").lower()

    def __repr__(self):
        return f"<ksearch.Client {self.address}>"
