"""torch tensors over memory that the verifier owns."""

import ctypes

# DLPack's structures, version 0.
class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("type_code", ctypes.c_uint8),
        ("type_bits", ctypes.c_uint8),
        ("type_lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.c_void_p),
        ("byte_offset", ctypes.c_uint64),
    ]


class DLManagedTensor(ctypes.Structure):
    _fields_ = [
        ("tensor", DLTensor),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    ]


DL_CPU = 1
DL_CUDA = 2
DL_INT = 0
DL_UINT = 1
CAPSULE_NAME = b"dltensor"  # a capsule keeps the pointer

make_capsule = ctypes.pythonapi.PyCapsule_New
make_capsule.restype = ctypes.py_object
make_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class Tensors:
    """Makes torch tensors over memory that is not torch's, without a copy."""

    def __init__(self, torch, device_type):
        self._torch = torch
        self._device_type = device_type
        # Kept forever: a program may keep a tensor longer than its workload, and freeing it reads this.
        self._kept = []

    def over(self, address, dtype_name, shape):
        dtype = getattr(self._torch, dtype_name, None)
        if dtype is None:
            raise TypeError(f"torch {self._torch.__version__} has no dtype {dtype_name}")
        # As integers of the same width: not every torch takes every dtype from a capsule.
        width = self._torch.empty(0, dtype=dtype).element_size()
        managed = DLManagedTensor()
        extents = (ctypes.c_int64 * len(shape))(*shape)
        managed.tensor.data = address
        managed.tensor.device_type = self._device_type
        managed.tensor.ndim = len(shape)
        managed.tensor.type_code = DL_UINT if width == 1 else DL_INT
        managed.tensor.type_bits = 8 * width
        managed.tensor.type_lanes = 1
        managed.tensor.shape = extents
        self._kept.append((managed, extents))
        capsule = make_capsule(ctypes.addressof(managed), CAPSULE_NAME, None)
        return self._torch.utils.dlpack.from_dlpack(capsule).view(dtype)
