//! The program: everything is in the library, where tests reach it.

fn main() {}
