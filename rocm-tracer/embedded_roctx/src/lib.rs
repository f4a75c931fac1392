//! An implementation of the ROCTX C API for machines without ROCm
