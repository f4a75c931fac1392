//! librocprofiler-sdk-roctx.so.1: the embedded ROCTX as a shared library
