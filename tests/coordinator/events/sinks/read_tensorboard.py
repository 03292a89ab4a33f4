"""usage: read_tensorboard.py FOLDER: reads the runs of sink_samples by TensorBoard's own reader."""

import pathlib
import sys

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator


def main():
    folder = pathlib.Path(sys.argv[1]) / "tensorboard"
    if sorted(path.name for path in folder.iterdir()) != ["a", "b", "c"]:
        sys.exit("read_tensorboard.py: one folder a run")
    reader = EventAccumulator(str(folder / "a"), size_guidance={"scalars": 0})
    reader.Reload()
    tags = reader.Tags()["scalars"]
    for tag in ("best/speedup", "candidate/speedup", "cost/usd", "failures/incorrect"):
        if tag not in tags:
            sys.exit(f"read_tensorboard.py: no {tag} among {tags}")
    rounds = reader.Scalars("round")
    if [event.step for event in rounds] != list(range(1, 404)) or rounds[-1].value != 400:
        sys.exit(f"read_tensorboard.py: {len(rounds)} rounds, the last {rounds[-1]}")
    if reader.Scalars("best/speedup")[-1].value != 2.5:
        sys.exit("read_tensorboard.py: best/speedup")
    if rounds[0].wall_time < 1_790_000_000:
        sys.exit(f"read_tensorboard.py: time {rounds[0].wall_time}")


main()
