//! `libroctx64.so.4`: the embedded ROCTX, for programs that load AMD's library by this name.

embedded_roctx::export_roctx_c_api!();
