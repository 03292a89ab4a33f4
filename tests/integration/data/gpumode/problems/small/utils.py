import torch


def verbose_allclose(received, expected, rtol=1e-05, atol=1e-08):
    if received.shape != expected.shape:
        return ["the shapes differ"]
    wrong = (received - expected).abs() > atol + rtol * expected.abs()
    return [f"{int(wrong.sum())} elements are wrong"] if bool(wrong.any()) else []


def make_match_reference(reference, **tolerance):
    def check(data, output):
        reasons = verbose_allclose(output, reference(data), **tolerance)
        return not reasons, " ".join(reasons)

    return check
