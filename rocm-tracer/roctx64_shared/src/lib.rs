//! libroctx64.so.4: the embedded ROCTX as a shared library
