"""Blocks of guides for readers with a cluster work with a Java broker."""

from functools import partial

import pytest

from publishing.pages import namespace
from publishing.pages.blocks import has_cluster, runs
from publishing.pages.readers import PAGES
from tests.peers import cache as java_cache
from tests.peers import class_archive, pages
from tests.peers.peers import CURRENT
from tests.peers.shared_peers import have_here

pytestmark = [pytest.mark.full, pytest.mark.java, pytest.mark.process]

FIRST = "rocketwire-admin.md"
"""This page shows the messages of a topic that no other page may have written to before."""


def test_what_pages_show_works_with_a_java_broker() -> None:
    if missing := namespace.missing():
        pytest.skip(missing)
    have_here(
        partial(java_cache.classes, CURRENT, "Broker.java"),
        partial(class_archive.record_broker, CURRENT),
    )
    chosen = [page for page in PAGES if runs(page) and has_cluster(page)]

    run = pages.run(sorted(chosen, key=lambda page: (page.name != FIRST, page.name)))

    assert run.returncode == 0, run.stdout
