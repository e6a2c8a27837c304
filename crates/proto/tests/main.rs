//! Tests of the protocols as driven by a daemon, and on random inputs, all in one program, which is linked only once.

mod aodv;
mod aodv_daemon;
mod babel;
mod c3tcp;
mod gateway;
mod gateway_device;
#[path = "../../../fuzz/replay.rs"]
mod replay;
mod tun_host;
