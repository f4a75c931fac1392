//! The per-thread annotation stack that labels GPU work
