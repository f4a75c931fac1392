//! The XSpace messages, plane names, builders and plane utilities
