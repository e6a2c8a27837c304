//! The number of packets that passed the queues without a verdict of this program: the queue was full, nobody listened
//! to it, or the guard released them.
//!
//! Counters of rules before a queue are no help: the kernel splits joined segments when it queues them, and counts them
//! as one when they bypass the queue. After the queue each verdict lets one packet pass. Packets counted there beyond
//! the verdicts have passed without one.

/// The difference between packets passed and verdicts, as far as it is certain.
///
/// Rules and verdicts are not read at the same instant, so each reading gives bounds; other programs may also drop
/// packets between the queue and the rules that count.
#[derive(Debug)]
pub struct Unpaced {
    /// The difference at the last reading; `None`: the rules' counters have restarted.
    difference: Option<i64>,
    packets: u64,
}

impl Default for Unpaced {
    /// For rules and workers that have counted nothing.
    fn default() -> Unpaced {
        Unpaced { difference: Some(0), packets: 0 }
    }
}

impl Unpaced {
    /// Takes a reading: the rules have counted `counted` packets. Before they were read, the kernel had `left`
    /// verdicts; afterwards, it had at most `leaving`.
    pub fn look(&mut self, counted: u64, left: u64, leaving: u64) {
        let [most, least] = [left, leaving].map(|verdicts| counted.cast_signed() - verdicts.cast_signed());
        // Less than before: others have dropped packets.
        let before = self.difference.map_or(most, |difference| difference.min(most));
        let now = before.max(least);
        self.packets += (now - before).cast_unsigned();
        self.difference = Some(now);
    }

    /// The rules are new, or read from another file.
    pub fn counters_begin_anew(&mut self) {
        self.difference = None;
    }

    /// Packets so far.
    pub fn packets(&self) -> u64 {
        self.packets
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_beyond_the_verdicts_have_passed_without_one() {
        let mut unpaced = Unpaced::default();
        // Verdicts in transit while the rules are read explain small differences in either direction.
        unpaced.look(100, 95, 110);
        unpaced.look(205, 200, 205);
        assert_eq!(unpaced.packets(), 0);
        unpaced.look(305, 255, 260);
        assert_eq!(unpaced.packets(), 45, "at least");
        unpaced.look(400, 350, 350);
        assert_eq!(unpaced.packets(), 50, "no verdict was on its way");
        unpaced.look(500, 450, 450);
        assert_eq!(unpaced.packets(), 50);
    }

    #[test]
    fn what_others_drop_hides_no_later_packets_and_new_counters_count_nothing_twice() {
        let mut unpaced = Unpaced::default();
        unpaced.look(60, 100, 100);
        unpaced.look(70, 100, 100);
        assert_eq!(unpaced.packets(), 10);
        unpaced.counters_begin_anew();
        unpaced.look(0, 100, 100);
        unpaced.look(3, 100, 100);
        assert_eq!(unpaced.packets(), 13);
        unpaced.counters_begin_anew();
        unpaced.look(500, 100, 100);
        assert_eq!(unpaced.packets(), 13);
    }
}
