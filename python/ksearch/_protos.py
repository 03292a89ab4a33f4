"""The messages and methods of proto/search_service.proto, from the descriptors that lie beside this file.

They are made by protoc when the package is built. A pool of their own keeps them apart from other packages'
messages, and works with every version of protobuf.
"""

import pathlib

try:
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
except ImportError as error:
    raise ImportError("ksearch needs grpcio and protobuf: pip install 'ksearch[client]'") from error

PACKAGE = "ksearch.v1"
_pool = descriptor_pool.DescriptorPool()
_files = descriptor_pb2.FileDescriptorSet.FromString(pathlib.Path(__file__).with_name("_protos.binpb").read_bytes())
for _file in _files.file:  # what a file imports comes before it
    _pool.AddSerializedFile(_file.SerializeToString())


def _class_of(descriptor):
    if hasattr(message_factory, "GetMessageClass"):
        return message_factory.GetMessageClass(descriptor)
    return message_factory.MessageFactory(_pool).GetPrototype(descriptor)  # protobuf before 4.22


def message(name):
    """The class of a message, e.g. message("RunStatus")."""
    return _class_of(_pool.FindMessageTypeByName(f"{PACKAGE}.{name}"))


def enum_name(enum, number):
    """Returns the name of a value, e.g. enum_name("RunState", 2)."""
    values = _pool.FindEnumTypeByName(f"{PACKAGE}.{enum}").values_by_number
    return values[number].name if number in values else str(number)


def methods(service="SearchService"):
    """Name -> (path, class of the request, class of the reply, whether replies are a stream)."""
    descriptor = _pool.FindServiceByName(f"{PACKAGE}.{service}")
    streams = {}
    for file in _files.file:
        for each in file.service:
            if file.package == PACKAGE and each.name == service:
                streams = {method.name: method.server_streaming for method in each.method}
    return {
        method.name: (f"/{descriptor.full_name}/{method.name}", _class_of(method.input_type),
                      _class_of(method.output_type), streams[method.name])
        for method in descriptor.methods
    }
