//! nvtx_utils for builds without a GPU: every call does nothing
