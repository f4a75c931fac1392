//! nvtx_utils on ROCTX: the annotation stack and a ROCTX range in one push
