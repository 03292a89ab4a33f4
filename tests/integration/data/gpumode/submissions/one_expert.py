#!POPCORN leaderboard more_weights
def custom_kernel(data):
    x, weights, scales, config = data
    product = x @ weights["experts.0.0.weight"] + weights["experts.0.1.bias"]
    return x @ weights["shared.0.weight"] + product * scales[0]
