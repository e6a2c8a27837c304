//! Traffic sources: what makes the packets of a flow.
//!
//! | file | what |
//! |---|---|
//! | [`cbr`] | constant bit rate UDP |
//! | [`files`] | short files over TCP with pauses between them |
//! | [`ping`] | ICMP echo, answered by the peer |
//! | [`transfer`] | a TCP transfer, endless or of a given size |

pub mod cbr;
pub mod files;
pub mod ping;
pub mod transfer;
