//! Nothing that starts a process can be tested here.
