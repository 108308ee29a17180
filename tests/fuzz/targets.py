"""The fuzz targets, and coverage-guided fuzzing of them with atheris: ``python -m tests.fuzz.targets --seconds 60 [NAME...]``.

The invariant of each: any bytes give values or a ``DecodeError``, nothing else, in bounded memory.  ``test_targets`` holds
it on damaged seeds without atheris.  An input that breaks a target is left in ``.cache/fuzz``.
"""

import argparse
import hashlib
import importlib
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

from rocketwire.errors import DecodeError
from tests.fuzz import answer_targets, capture_targets, codec_targets, server_targets, store_targets

ROOT: Final = Path(__file__).parents[2]
CACHE: Final = ROOT / ".cache" / "fuzz"


class Target(NamedTuple):
    read: Callable[[bytes], None]  #: returns nothing, raises a ``DecodeError`` or breaks
    seeds: Callable[[], list[bytes]]  #: valid inputs to start from
    cases: int = 1500  #: damaged seeds that ``test_targets`` tries; fewer if one takes milliseconds


TARGETS: Final = {
    "frame": Target(codec_targets.read_frame, codec_targets.seed_frame),
    "json_header": Target(codec_targets.read_json_header, codec_targets.seed_json_header),
    "binary_header": Target(codec_targets.read_binary_header, codec_targets.seed_binary_header),
    "fastjson": Target(codec_targets.read_fastjson, codec_targets.seed_fastjson),
    "register_body": Target(codec_targets.read_register_body, codec_targets.seed_register_body),
    "properties": Target(codec_targets.read_properties, codec_targets.seed_properties),
    "stored_message": Target(codec_targets.read_stored_message, codec_targets.seed_stored_message),
    "sql92": Target(codec_targets.read_sql92, codec_targets.seed_sql92),
    "answers": Target(answer_targets.read_answers, answer_targets.seed_answers, cases=10),
    "preamble": Target(server_targets.read_preamble, server_targets.seed_preamble),
    "session": Target(server_targets.read_session, server_targets.seed_session),
    "broker": Target(server_targets.read_broker, server_targets.seed_broker, cases=300),
    "commit_log": Target(store_targets.read_commit_log, store_targets.seed_commit_log, cases=300),
    "index_file": Target(store_targets.read_index_file, store_targets.seed_index_file),
    "queue_units": Target(store_targets.read_queue_units, store_targets.seed_queue_units),
    "rocksdb_records": Target(
        store_targets.read_rocksdb_records, store_targets.seed_rocksdb_records
    ),
    "store_config": Target(store_targets.read_store_config, store_targets.seed_store_config),
    "store_words": Target(store_targets.read_store_words, store_targets.seed_store_words),
    "timers": Target(store_targets.read_timers, store_targets.seed_timers),
    "pcap": Target(
        capture_targets.read_capture, partial(capture_targets.seed_capture, pcapng=False), cases=50
    ),
    "pcapng": Target(
        capture_targets.read_capture, partial(capture_targets.seed_capture, pcapng=True), cases=50
    ),
}


def fuzz(name: str, seconds: int) -> None:
    atheris = cast("Any", importlib.import_module("atheris"))
    target = TARGETS[name]
    corpus = CACHE / name
    corpus.mkdir(parents=True, exist_ok=True)
    for seed in target.seeds():
        (corpus / hashlib.sha256(seed).hexdigest()[:16]).write_bytes(seed)

    def read(data: bytes) -> None:
        try:
            target.read(data)
        except DecodeError:
            return

    limits = [
        "-max_len=16384",
        "-malloc_limit_mb=32",
        "-rss_limit_mb=512",
        "-timeout=5",
        "-verbosity=0",
    ]
    options = [f"-max_total_time={seconds}", f"-artifact_prefix={CACHE}/{name}-", *limits]
    atheris.instrument_all()
    atheris.Setup([sys.argv[0], *options, str(corpus)], read)
    atheris.Fuzz()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=60, help="for each target")
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*", choices=[*TARGETS, []], metavar="NAME")
    chosen = parser.parse_args()
    if chosen.alone:
        fuzz(chosen.names[0], chosen.seconds)
    broken = 0
    for name in chosen.names or TARGETS:
        command = [sys.executable, "-m", __spec__.name, "--alone"]
        command += ["--seconds", str(chosen.seconds), name]
        finished = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        broken += finished.returncode != 0
        report = finished.stderr[-4000:] if finished.returncode else ""
        sys.stdout.write(f"{name}: {'BROKEN' if finished.returncode else 'ok'}\n{report}")
        sys.stdout.flush()
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
