"""A difference between both sides, and the text of its trial."""

from tests.fuzz.trials import Difference, Refusal, Trial


def text_of(trial: Trial) -> bytes:
    if trial.about == "frame":
        return trial.data[8 : 8 + int.from_bytes(trial.data[5:8], "big")]
    return trial.data


def only_ours(difference: Difference, message: str = "") -> bool:
    if not isinstance(difference.java, Refusal) or isinstance(difference.ours, Refusal):
        return False
    return message in f"{difference.java.error}: {difference.java.message}"


def only_java(difference: Difference, message: str = "") -> bool:
    if not isinstance(difference.ours, Refusal) or isinstance(difference.java, Refusal):
        return False
    return message in difference.ours.message
