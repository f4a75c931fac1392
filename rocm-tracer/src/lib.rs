//! The ROCTX listener, its tracer and the collector that makes planes of what it heard
