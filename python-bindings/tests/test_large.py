"""A million markers: the profile opens in jaxlib and in XProf."""

from profiles import host_rows, run_python, the_xplane, xprof_rows, xspace


def test_a_million_markers(logdir):
    source = """
        import sys, xprof_roctx
        push, pop = xprof_roctx.range_push, xprof_roctx.range_pop
        labels = [f"label {number}" for number in range(100)]
        with xprof_roctx.trace(sys.argv[1]):
            for _ in range(5000):
                push("batch")
                for label in labels:
                    push(label)
                    pop()
                    push("again")
                    pop()
                pop()
    """
    run_python(source, logdir)
    path = the_xplane(logdir)
    expected = 5000 * 201
    (row,) = [row for row in host_rows(path) if "ROCTX" in row.name]
    assert len(row.events) == expected
    assert row.labels.count("label 42") == 5000
    (shown,) = [events for name, events in xprof_rows(path).items() if "ROCTX" in name]
    # The viewer leaves out what it says it leaves out; it shows no event that is not there.
    assert 0 < len(shown) <= expected
    assert {event["name"] for event in shown} <= {"batch", "again", *(f"label {n}" for n in range(100))}
    assert list(xspace(path).warnings) == []
