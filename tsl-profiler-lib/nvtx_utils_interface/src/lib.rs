//! The types and the contract that every nvtx_utils implementation has in common
