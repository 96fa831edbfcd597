//! The commands: each one a table of contents over the layers below.

pub mod demo_target;
