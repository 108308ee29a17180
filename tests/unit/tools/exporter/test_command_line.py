"""The options of ``rocketwire-exporter``."""

import pytest

from rocketwire_tools.exporter.command_line import Options, build_parser, options_of


def parse(*arguments: str) -> Options:
    return options_of(build_parser().parse_args(arguments), 5.0)


def test_the_default_address_is_the_port_of_apaches_exporter_on_loopback() -> None:
    assert parse() == Options(request_timeout=5.0)
    assert parse().listen == ("127.0.0.1", 5557)


def test_every_limit_has_an_option() -> None:
    options = parse(
        *("--deadline", "9", "--max-series", "8", "--concurrent", "7", "--max-clients", "0"),
        *("--min-interval", "0", "--wait", "3", "--listen", "[::1]:0"),
    )

    assert options == Options(
        deadline=9,
        series=8,
        concurrent=7,
        clients=0,
        min_interval=0,
        wait=3,
        listen=("::1", 0),
        request_timeout=5.0,
    )


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--listen", "here"), "must be ADDRESS:PORT"),
        (("--listen", "a:65536"), "must be ADDRESS:PORT"),
        (("--concurrent", "0"), "must be a positive integer"),
        (("--max-clients", "-1"), "must be 0 or a positive integer"),
        (("--deadline", "0"), "must be a positive number of seconds"),
        (("--namespace", "shop"), "unrecognized arguments: --namespace"),
    ],
)
def test_invalid_values(
    arguments: tuple[str, ...], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        parse(*arguments)

    assert complaint in capsys.readouterr().err
