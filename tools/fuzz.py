#!/usr/bin/env python3
"""fuzz.py TARGET [CORPUS...] - a short run of one libFuzzer target.

What the run discovers goes into a scratch directory, never into the corpus:
a test must not change the source. An input that crashes the target is kept
beside the target, and its path is printed.
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path


def same_addresses():
    """The prefix of a command whose addresses are the same in every run."""
    prefix = ['setarch', '-R']
    try:
        subprocess.run([*prefix, 'true'], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return []
    return prefix


def main(arguments):
    target = Path(arguments[0]).resolve()
    seeds = sorted(str(file) for folder in arguments[1:]
                   for file in Path(folder).glob('*') if file.is_file())
    with tempfile.TemporaryDirectory() as scratch:
        code = subprocess.run([
            *same_addresses(), str(target), scratch,
            '-runs=' + os.environ.get('FUZZ_RUNS', '20000'),
            '-max_total_time=' + os.environ.get('FUZZ_SECONDS', '20'),
            # the same every time: a verdict that changes helps nobody. Who
            # looks for more gives other seeds, and more runs.
            '-seed=' + os.environ.get('FUZZ_SEED', '1'),
            # by name, for a folder is listed in an order of its own; and
            # without what goes by the clock
            *(['-seed_inputs=' + ','.join(seeds)] if seeds else []),
            '-reload=0',
            '-entropic=0',
            '-timeout=10',
            '-rss_limit_mb=2048',
            '-print_final_stats=1',
            f'-artifact_prefix={target}-',
        ], check=False).returncode
    # libFuzzer says 77 of a crash, which to meson means "skipped".
    return 0 if code == 0 else 1


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
