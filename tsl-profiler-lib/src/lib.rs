//! What an annotated program calls: scoped annotations, TraceMe and the nvtx_utils backend of this build
