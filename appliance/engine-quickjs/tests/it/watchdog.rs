//! Still to be written here.
