"""python -m cu264.ray transcode IN_URI OUT_URI"""

from __future__ import annotations

import argparse
import sys
from typing import List, Optional

import ray

from .clip_store import VIDEO_SUFFIXES
from .transcode_job import transcode


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m cu264.ray", description="Clips on a Ray cluster.")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    verb = verbs.add_parser(
        "transcode",
        help="transcode every clip below a folder",
        description="Transcodes every clip below a folder to H.264. The same command again finishes "
        "what was interrupted. OUT_URI/_cu264/ledger.jsonl says what became of each clip. The exit "
        "status is 0 if every clip was coded.",
    )
    verb.add_argument(
        "in_uri", metavar="IN_URI", help="folder or file: a path, s3://..., gs://..., or what fsspec opens"
    )
    verb.add_argument("out_uri", metavar="OUT_URI", help="folder for the outputs")
    verb.add_argument(
        "--address", help="the cluster's address (default: RAY_ADDRESS, a cluster on this machine, or a new one)"
    )
    verb.add_argument("--workers", type=int, help="actors (default: as many as the cluster has room for)")
    verb.add_argument("--num-cpus", type=float, default=1, help="cores of an actor (default: 1)")
    verb.add_argument(
        "--num-gpus",
        type=float,
        help="part of a GPU that an actor holds; 0: the processor encodes "
        "(default: 0.25 where the cluster has GPUs)",
    )
    verb.add_argument("--batch-size", type=int, default=8, help="clips that an actor takes at once (default: 8)")
    verb.add_argument("--container", choices=("mp4", "fmp4", "h264"), default="mp4")
    verb.add_argument(
        "--suffix",
        action="append",
        help="which files are clips, for example .mkv; may be repeated " "(default: the usual ones)",
    )
    verb.add_argument("--no-audio", action="store_true", help="leave audio out")
    verb.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a setting of cu264.VideoWriter, for example --set qp=24 --set preset=fast; may be repeated",
    )
    verb.add_argument("--stats", action="store_true", help="print Ray's account of the execution")
    return parser


def _value(text: str) -> object:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return {"true": True, "false": False}.get(text.lower(), text)


def main(arguments: Optional[List[str]] = None) -> int:
    parser = _parser()
    args = parser.parse_args(arguments)
    settings = {}
    for item in args.set:
        name, equals, value = item.partition("=")
        if not equals:
            parser.error(f"--set {item}: write NAME=VALUE, for example qp=24")
        settings[name] = _value(value)
    if not ray.is_initialized():
        ray.init(address=args.address)
    try:
        summary = transcode(
            args.in_uri,
            args.out_uri,
            suffixes=args.suffix or VIDEO_SUFFIXES,
            container=args.container,
            keep_audio=not args.no_audio,
            workers=args.workers,
            num_cpus=args.num_cpus,
            num_gpus=args.num_gpus,
            batch_size=args.batch_size,
            **settings,
        )
    except (OSError, TypeError, ValueError) as error:
        print(f"cu264.ray: {error}", file=sys.stderr)
        return 2
    if args.stats:
        print(summary.stats)
    for name, error in sorted(summary.errors.items()):
        print(f"cu264.ray: {name}: {error}", file=sys.stderr)
    for word, names in (("lost", summary.lost), ("twice in the ledger", summary.twice)):
        for name in names:
            print(f"cu264.ray: {name}: {word}", file=sys.stderr)
    print(summary)
    return 0 if summary.ok else 1


if __name__ == "__main__":
    sys.exit(main())
