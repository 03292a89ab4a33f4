# A CUDA graph of its own for each shape, over tensors of its own: inputs are copied in and the
# output out. It is made while nobody records.
import torch

graphs = {}


class Product:
    def __init__(self, a, b):
        self.a, self.b = a.clone(), b.clone()
        self.c = torch.mm(self.a, self.b)
        torch.cuda.synchronize()
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            torch.mm(self.a, self.b, out=self.c)


def run(a, b, c):
    key = (a.shape, b.shape)
    if key not in graphs:
        graphs[key] = Product(a, b)
    product = graphs[key]
    product.a.copy_(a)
    product.b.copy_(b)
    product.graph.replay()
    c.copy_(product.c)
