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


def main(arguments):
    target = Path(arguments[0]).resolve()
    corpora = [folder for folder in arguments[1:] if Path(folder).is_dir()]
    with tempfile.TemporaryDirectory() as scratch:
        code = subprocess.run([
            str(target), scratch, *corpora,
            '-runs=' + os.environ.get('FUZZ_RUNS', '20000'),
            '-max_total_time=' + os.environ.get('FUZZ_SECONDS', '20'),
            # the same every time: a verdict that changes helps nobody. Who
            # looks for more gives other seeds, and more runs.
            '-seed=' + os.environ.get('FUZZ_SEED', '1'),
            '-timeout=10',
            '-rss_limit_mb=2048',
            '-print_final_stats=1',
            f'-artifact_prefix={target}-',
        ], check=False).returncode
    # libFuzzer says 77 of a crash, which to meson means "skipped".
    return 0 if code == 0 else 1


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
