//! Benches of the protocols and of the simulator's parts, one file each, which `make bench` runs. They are a package of their
//! own so that no test waits for what only they need to be compiled.
