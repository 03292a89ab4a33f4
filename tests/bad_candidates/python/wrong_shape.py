# Returns a result that a copy would spread over the output.
def run(a, b):
    return (a @ b)[:1]
