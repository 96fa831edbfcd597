//! The only home of `unsafe`, libc and nix: one safe function a system call.

pub mod clock;
pub mod cstdio;
