//! Traffic sources, which make the packets of a flow, and their receivers.
//!
//! | file | what |
//! |---|---|
//! | [`cbr`] | constant bit rate UDP |
//! | [`files`] | short files over TCP with pauses between them |
//! | [`ping`] | ICMP echo, answered by the peer |
//! | [`sink`] | receiver of UDP: each datagram once |
//! | [`transfer`] | a TCP transfer, endless or of a given size |

pub mod cbr;
pub mod files;
pub mod ping;
pub mod sink;
pub mod transfer;
