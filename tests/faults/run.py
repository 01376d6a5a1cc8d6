#!/usr/bin/env python3
"""Kills, damages and starves the program, and counts what comes of it.

    tests/faults/run.py --program build/cpu/lengthwise                    # all of it: 200 kills, 1,000 damaged files
    tests/faults/run.py --program build/cpu/lengthwise --short            # a few of each

Ends with 0 when there was no crash, no hang, no exit 70 and no silently changed result, otherwise with 1. The counts go
to --json FILE. The same --seed draws the same damages; the moments of kills depend on the machine.
"""
import argparse
import json
import os
import random
import shutil
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from damage import Damages  # noqa: E402
from folders import Fixture  # noqa: E402
from kills import Kills  # noqa: E402
from program import Program, Record  # noqa: E402
from starve import Starvation  # noqa: E402


def table(counts):
    """Markdown: one row for each kind of case, one column for each way it ended."""
    ends = sorted({end for row in counts.values() for end in row})
    rows = [["", *ends], ["---", *("---:" for _ in ends)]]
    rows += [[kind, *(str(row.get(end, "")) for end in ends)] for kind, row in sorted(counts.items())]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--kills", type=int)
    parser.add_argument("--damages", type=int)
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--no-starve", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--keep", metavar="DIR", help="work there, and leave it")
    options = parser.parse_args()
    kills = options.kills if options.kills is not None else (4 if options.short else 200)
    damages = options.damages if options.damages is not None else (20 if options.short else 1000)

    begin = time.monotonic()
    folder = options.keep or tempfile.mkdtemp(prefix="lengthwise-faults-")
    os.makedirs(folder, exist_ok=True)
    os.chmod(folder, 0o755)
    record = Record()
    program = Program(options.program)
    done = {}
    try:
        fixture = Fixture(program, os.path.join(folder, "made"))
        rng = random.Random(options.seed)
        done["damaged files"] = Damages(program, fixture, record, random.Random(options.seed), folder,
                                        options.jobs).run(damages)
        if kills:
            done["kills"] = Kills(program, fixture, record, rng, folder).run(kills)
        if not options.no_starve:
            done["starved"] = Starvation(program, fixture, record, rng, folder).run(options.short)
    finally:
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)
    result = {"done": done, "counts": {kind: dict(sorted(row.items())) for kind, row in sorted(record.counts.items())},
              "faults": record.faults, "seconds": round(time.monotonic() - begin)}
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(result, file, indent=1)
            file.write("\n")
    print(table(result["counts"]))
    print(f"{', '.join(f'{count} {what}' for what, count in done.items())} in {result['seconds']} s")
    print(f"{len(record.faults)} faults")
    return 1 if record.faults else 0


if __name__ == "__main__":
    sys.exit(main())
