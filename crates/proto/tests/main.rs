//! Tests of the protocols as a daemon drives them, and on inputs at random, all in one program: it is linked once.

mod aodv;
mod aodv_daemon;
mod babel;
mod c3tcp;
mod gateway;
mod gateway_device;
#[path = "../../../fuzz/replay.rs"]
mod replay;
mod tun_host;
