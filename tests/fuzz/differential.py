"""Java and rocketwire read and write the same random values and damaged bytes; each difference is explained.

``python -m tests.fuzz.differential --format json-header --cases 100000 --seed 1`` prints totals for each kind of case, the
explained differences by name and the first unexplained ones with their bytes; the exit status is 1 if there are any.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tests.fuzz.bodies import JsonBodies
from tests.fuzz.chance import Chance
from tests.fuzz.explained import explanation
from tests.fuzz.headers import JsonHeaders
from tests.fuzz.messages import StoredMessages
from tests.fuzz.trials import Difference, Format, Refusal, Trial, differences
from tests.peers.oracle import Oracle

FORMATS: dict[str, Format] = {
    form.name: form for form in (JsonHeaders(), StoredMessages(), JsonBodies())
}
SHOWN = 20
"""Unexplained differences that are printed in full."""


@dataclass(slots=True)
class Totals:
    #: trials by kind in which both sides have the same value
    agreed: Counter[str] = field(default_factory=Counter[str])
    refused: Counter[str] = field(default_factory=Counter[str])  #: trials by kind that both refuse
    #: trials by kind and name of the explanation
    explained: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    #: trials by kind that are neither
    unexplained: Counter[str] = field(default_factory=Counter[str])
    #: the first of those
    examples: list[tuple[Trial, list[Difference]]] = field(
        default_factory=list["tuple[Trial, list[Difference]]"]
    )

    def lines(self) -> Iterator[str]:
        kinds = sorted(
            {
                *self.agreed,
                *self.refused,
                *self.unexplained,
                *(group for group, _ in self.explained),
            }
        )
        for group in kinds:
            explained = sum(
                n for (other_group, _), n in self.explained.items() if other_group == group
            )
            yield (
                f"  {group:34} same {self.agreed[group]:7}  both refuse {self.refused[group]:7}"
                f"  explained {explained:6}  unexplained {self.unexplained[group]:5}"
            )
        for (group, name), count in sorted(self.explained.items()):
            yield f"    explained, {group}: {name}: {count}"

    def example_lines(self, count: int = SHOWN) -> Iterator[str]:
        for trial, differences_ in self.examples[:count]:
            yield f"  unexplained, {trial.kind} {trial.about}: {trial.data.hex()}"
            yield f"    {trial.data[:300]!r}"
            for difference in differences_[:5]:
                place = ".".join(map(str, difference.path)) or "whole"
                yield f"    {place}: Java {difference.java!r:.200}, ours {difference.ours!r:.200}"


class Run:
    def __init__(self, form: Format, oracle: Oracle, older: Oracle | None = None) -> None:
        self.form = form
        self.oracle = oracle
        self.older = older
        self.totals = Totals()

    def perform(self, cases: int, seed: int) -> Totals:
        for trial in self.form.trials(Chance(f"{self.form.name} {seed}"), self.oracle, cases):
            self._count(trial)
        return self.totals

    def _count(self, trial: Trial) -> None:
        totals = self.totals
        differences_ = list(differences(trial.java, trial.ours))
        if not differences_:
            both = isinstance(trial.java, Refusal)
            (totals.refused if both else totals.agreed)[trial.kind] += 1
            return
        names: set[str] = set()
        for difference in differences_:
            reason = explanation(self.form.name, trial, difference)
            if reason is None and self._older_agrees(trial):
                names.add("read as 5.3.3 reads it")
                break
            if reason is None:
                totals.unexplained[trial.kind] += 1
                if len(totals.examples) < 10 * SHOWN:
                    totals.examples.append((trial, differences_))
                return
            names.add(reason.name)
        totals.explained[trial.kind, " + ".join(sorted(names))] += 1

    def _older_agrees(self, trial: Trial) -> bool:
        if self.older is None or trial.retry is None or not isinstance(trial.java, Refusal):
            return False
        return not list(differences(trial.retry(self.older), trial.ours))


def compare(
    name: str, cases: int, seed: int, oracle: Oracle, older: Oracle | None = None
) -> Totals:
    return Run(FORMATS[name], oracle, older).perform(cases, seed)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--format", choices=sorted(FORMATS), action="append")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=SHOWN, help="unexplained differences to print")
    chosen = parser.parse_args(arguments)
    unexplained = 0
    with Oracle("5.5.0") as oracle, Oracle("5.3.3") as older:
        for name in chosen.format or sorted(FORMATS):
            start = time.monotonic()
            totals = compare(name, chosen.cases, chosen.seed, oracle, older)
            bad = totals.unexplained.total()
            unexplained += bad
            out = [
                f"{name}: {chosen.cases} cases, seed {chosen.seed}, {time.monotonic() - start:.0f} s, unexplained {bad}",
                *totals.lines(),
                *totals.example_lines(chosen.show),
            ]
            sys.stdout.write("\n".join(out) + "\n")
            sys.stdout.flush()
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
