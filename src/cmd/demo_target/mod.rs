//! The built-in target.
