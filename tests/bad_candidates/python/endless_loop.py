# Never ends, whatever is raised.
def run(a, b, c):
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass
