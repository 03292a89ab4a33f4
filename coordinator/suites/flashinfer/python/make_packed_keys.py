

def _ksearch_made(torch, tensor, shape, generator, device):
    """Pages of float8_e4m3fn keys, then their float32 scales, in bytes; without torch's own type."""
    pages, page_size, _, width = shape
    keys = torch.randn((pages, page_size, width - 4), generator=generator, device=device)
    scale = keys.abs().amax(dim=2).clamp(min=1e-4) / 448.0
    # Finite values of the format, by their bits: 0 .. 126 are from 0 to 448.
    values = []
    for bits in range(127):
        exponent, fraction = bits >> 3, bits & 7
        values.append(fraction * 2.0**-9 if exponent == 0 else (1 + fraction / 8) * 2.0 ** (exponent - 7))
    values = torch.tensor(values, device=device)
    scaled = keys / scale[:, :, None]
    bits = torch.bucketize(scaled.abs().contiguous(), (values[1:] + values[:-1]) / 2)
    bits = (bits + 128 * (scaled < 0)).to(torch.uint8)
    packed = torch.cat([bits.reshape(pages, -1), scale.contiguous().view(torch.uint8).reshape(pages, -1)], dim=1)
    return packed.reshape(shape).view(torch.int8)
