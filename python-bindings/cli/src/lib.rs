//! The `xprof-roctx` command
