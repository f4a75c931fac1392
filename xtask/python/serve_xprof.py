"""XProf's web server on 127.0.0.1. Its own command listens on every interface.

    python serve_xprof.py LOGDIR PORT
"""

import sys

from xprof import server


def main() -> None:
    logdir, port = sys.argv[1], int(sys.argv[2])
    context = server.TBContext(logdir, server.DataProvider(logdir), server.TBContext.Flags(False))
    context.hide_capture_profile_button = True
    context.enable_tab_name_label = False
    context.src_prefix = None
    server.run_server(server.ProfilePluginLoader().load(context), "127.0.0.1", port)


if __name__ == "__main__":
    main()
