//! Benches of the protocols and of the simulator's parts, one file each, for `make bench`. They are a separate package
//! so that tests need not build the dependencies of benches.
