"""How a function of torch becomes a task: what `ksearch task new` runs."""
