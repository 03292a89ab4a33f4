"""Starts and follows searches of a ksearch coordinator, from programs and notebooks.

    import ksearch
    run = ksearch.start(task="softmax_rows_f32", model="openai/gpt-5.4", budget_usd=5)
    for event, status in ksearch.watch(run):
        print(event.text)
    best = ksearch.best(run)
    print(best.speedup, best.files["kernel.cpp"])

These functions use the coordinator that KSEARCH_COORDINATOR names, or else the one that
`ksearch up` has started on this machine. For another one, or several: `ksearch.Client(address)`. Statuses,
events and other answers are the messages of proto/search_service.proto, field by field. Errors are
`ksearch.Error`, with the coordinator's message.

It needs grpcio and protobuf: pip install 'ksearch[client]'.
"""

from ksearch._address import default_address
from ksearch._client import Best, Client, Error

__all__ = ["Best", "Client", "Error", "best", "client", "default_address", "start", "status", "stop", "watch"]

_clients = {}


def client():
    """The Client of the functions below."""
    address = default_address()
    if address not in _clients:
        _clients[address] = Client(address)
    return _clients[address]


def start(**settings):
    """Starts a search and returns its id: see Client.start."""
    return client().start(**settings)


def status(run="last"):
    """Where a run stands, as a RunStatus: see Client.status."""
    return client().status(run)


def watch(run="last", after=0):
    """The events of a run as they happen, until it ends: see Client.watch."""
    return client().watch(run, after)


def best(run="last"):
    """The best confirmed program of a run: see Client.best."""
    return client().best(run)


def stop(run="last"):
    """Asks a run to stop; it can be resumed: see Client.stop."""
    return client().stop(run)
