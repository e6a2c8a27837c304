//! Traffic sources, their receivers, and the ends of flows as their nodes see them.
//!
//! | file | content |
//! |---|---|
//! | [`ages`] | ages of bytes at delivery |
//! | [`end`] | an end of a flow, for any transport |
//! | [`cbr`] | constant bit rate UDP |
//! | [`files`] | short files over TCP with pauses between them |
//! | [`ping`] | ICMP echo, answered by the peer |
//! | [`sink`] | UDP receiver: counts each datagram once |
//! | [`transfer`] | a TCP transfer, endless or of a given size |

pub mod ages;
pub mod cbr;
pub mod end;
pub mod files;
pub mod ping;
pub mod sink;
pub mod transfer;
