"""A distribution of Spark that pip's PySpark makes up."""

from pathlib import Path


def distribution(folder: Path) -> Path:
    """Create a home of Spark; what writes there writes below the folder.

    It has no ``python`` folder. With one, each Python process of Spark imports PySpark from the zip
    file in it, and compiles it again: a second of CPU instead of a third. On a busy machine that is
    more than the ten seconds that Spark gives a Python process to start.
    """
    import pyspark

    packaged = Path(pyspark.__file__).parent
    home = folder / "spark"
    (home / "conf").mkdir(parents=True)
    for name in ("bin", "jars"):
        (home / name).symlink_to(packaged / name)
    return home
