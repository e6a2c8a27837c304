//! Traffic sources, which make the packets of a flow, their receivers, and what an end of a flow is to its node.
//!
//! | file | what |
//! |---|---|
//! | [`ages`] | how old bytes are when they are delivered |
//! | [`end`] | an end of a flow, whatever its transport |
//! | [`cbr`] | constant bit rate UDP |
//! | [`files`] | short files over TCP with pauses between them |
//! | [`ping`] | ICMP echo, answered by the peer |
//! | [`sink`] | receiver of UDP: each datagram once |
//! | [`transfer`] | a TCP transfer, endless or of a given size |

pub mod ages;
pub mod cbr;
pub mod end;
pub mod files;
pub mod ping;
pub mod sink;
pub mod transfer;
