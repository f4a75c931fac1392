//! `librocprofiler-sdk-roctx.so.1`: the embedded ROCTX, for programs that load AMD's library by this name.

embedded_roctx::export_roctx_c_api!();
