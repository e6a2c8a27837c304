//! Benches of the protocols and of the simulator's parts, one file each, for `make bench`. They are a package of their
//! own so that tests do not wait for what only benches need.
