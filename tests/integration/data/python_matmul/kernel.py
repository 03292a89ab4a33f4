"""One call of torch's product, as in

```
run(a, b, c)
```
"""
from product import into


def run(a, b, c):
    into(a, b, c)
