//! A capture session: start, stop, post-process, write
