//! Counters of a station.

use crate::counters::counters;

counters! {
    /// Counts since the start.
    pub struct Counters {
        /// MSDUs taken from the queue.
        pub accepted: u64,
        /// MSDUs acknowledged by their receiver.
        pub acknowledged: u64,
        /// Broadcast MSDUs sent.
        pub broadcasts: u64,
        /// RTS sent.
        pub rts_sent: u64,
        /// RTS without a CTS in time.
        pub rts_timeouts: u64,
        /// CTS sent.
        pub cts_sent: u64,
        /// CTS withheld because the medium was not idle.
        pub cts_refused: u64,
        /// Unicast data frames sent, retransmissions included.
        pub data_sent: u64,
        /// Unicast data frames without an ACK in time.
        pub data_timeouts: u64,
        /// ACKs sent.
        pub acks_sent: u64,
        /// MSDUs given up because no CTS arrived.
        pub rts_limit_drops: u64,
        /// MSDUs given up because no ACK arrived.
        pub data_limit_drops: u64,
        /// MSDUs passed to the layer above.
        pub delivered: u64,
        /// Data frames received twice.
        pub duplicates: u64,
        /// MPDUs sent with an MCS, in aggregates or alone, including retransmissions.
        pub mpdus_sent: u64,
        /// Retransmissions among them.
        pub mpdus_again: u64,
        /// Block acknowledgements sent.
        pub block_acks_sent: u64,
        /// Requests for block acknowledgements sent.
        pub requests_sent: u64,
        /// CTS-to-self sent to protect an own frame.
        pub self_cts_sent: u64,
    }
}

impl Counters {
    /// Returns, by name, the counters of what the station sends on its own initiative.
    pub fn sending(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
        let answers = ["cts_sent", "cts_refused", "acks_sent", "delivered", "duplicates", "block_acks_sent"];
        self.named().filter(move |(name, _)| !answers.contains(name))
    }

    /// Returns the number of frames whose answer never came: retries, and MSDUs given up.
    pub fn unanswered(&self) -> u64 {
        self.rts_timeouts + self.data_timeouts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_without_an_answer_are_those_of_both_kinds() {
        assert_eq!(Counters { rts_timeouts: 5, data_timeouts: 3, ..Counters::default() }.unanswered(), 8);
    }

    #[test]
    fn answers_are_not_sent_of_ones_own_accord() {
        let names: Vec<_> = Counters::default().sending().map(|(name, _)| name).collect();
        assert!(names.contains(&"rts_timeouts") && !names.contains(&"acks_sent") && !names.contains(&"duplicates"));
    }
}
