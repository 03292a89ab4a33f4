from typing import Dict, Tuple, TypeVar

import torch

input_t = TypeVar("input_t", bound=Tuple[torch.Tensor, torch.Tensor, Dict, Dict, torch.Tensor])
output_t = TypeVar("output_t", bound=torch.Tensor)
