//! `[edca]`: access categories, for `mac.edca = true`.

use super::Phy;
use crate::key::{Choice, Fallback::*, Kind, Section, time};
use crate::value::Values;
use crate::{choice, section};
use fourhop_proto::mac::edca;
use fourhop_proto::wire::PriorityMap;
use fourhop_units::Dur;

choice! {
    for PriorityMap {
        ClassSelector = "class-selector", "by the upper three bits of the DSCP, as in Linux: 8 to 23 are background, \
            32 to 47 video, 48 to 63 voice, all others best effort";
        Rfc8325 = "rfc8325", "by the table of RFC 8325: 8 is background, 24 to 40 video, 44, 46 and 48 voice, all \
            others best effort";
    }
}

section! {
    /// Access categories (EDCA), for `mac.edca = true`: voice, video, best effort and background, with the default
    /// parameters of IEEE 802.11-2020 table 9-155. Linux uses "0s" for `be_txop` and `bk_txop`, "3008us" for `vi_txop`
    /// and "1504us" for `vo_txop`.
    Edca = "edca" of edca::Config {
        /// Mapping of DSCP to access category. Routing packets have DSCP 48; ARP is best effort.
        dscp_map: PriorityMap, Kind::Choice(PriorityMap::CHOICES), Both("class-selector");
        /// AIFSN of voice: number of slots after SIFS.
        vo_aifsn: u32, Kind::Int(2, 15) => vo.aifsn;
        /// Minimum contention window of voice.
        vo_cw_min: u32, Kind::Int(1, 32_767), Computed("7; with OFDM 3") => vo.cw_min;
        /// Maximum contention window of voice.
        vo_cw_max: u32, Kind::Int(1, 32_767), Computed("15; with OFDM 7") => vo.cw_max;
        /// TXOP limit of voice; "0s": one frame exchange.
        vo_txop: Dur, time("0s", "2097120us"), Computed("3264us; with OFDM 2080us") => vo.txop;
        /// AIFSN of video: number of slots after SIFS.
        vi_aifsn: u32, Kind::Int(2, 15) => vi.aifsn;
        /// Minimum contention window of video.
        vi_cw_min: u32, Kind::Int(1, 32_767), Computed("15; with OFDM 7") => vi.cw_min;
        /// Maximum contention window of video.
        vi_cw_max: u32, Kind::Int(1, 32_767), Computed("31; with OFDM 15") => vi.cw_max;
        /// TXOP limit of video; "0s": one frame exchange.
        vi_txop: Dur, time("0s", "2097120us"), Computed("6016us; with OFDM 4096us") => vi.txop;
        /// AIFSN of best effort: number of slots after SIFS.
        be_aifsn: u32, Kind::Int(2, 15) => be.aifsn;
        /// Minimum contention window of best effort.
        be_cw_min: u32, Kind::Int(1, 32_767), Computed("31; with OFDM 15") => be.cw_min;
        /// Maximum contention window of best effort.
        be_cw_max: u32, Kind::Int(1, 32_767), Computed("1023") => be.cw_max;
        /// TXOP limit of best effort; "0s": one frame exchange.
        be_txop: Dur, time("0s", "2097120us"), Computed("3264us; with OFDM 2528us") => be.txop;
        /// AIFSN of background: number of slots after SIFS.
        bk_aifsn: u32, Kind::Int(2, 15) => bk.aifsn;
        /// Minimum contention window of background.
        bk_cw_min: u32, Kind::Int(1, 32_767), Computed("31; with OFDM 15") => bk.cw_min;
        /// Maximum contention window of background.
        bk_cw_max: u32, Kind::Int(1, 32_767), Computed("1023") => bk.cw_max;
        /// TXOP limit of background; "0s": one frame exchange.
        bk_txop: Dur, time("0s", "2097120us"), Computed("3264us; with OFDM 2528us") => bk.txop;
    }
}

/// Fills in values that depend on the physical layer.
pub fn complete(values: &mut Values, phy: Phy) {
    let defaults = edca::Config::standard(phy.kind());
    for (name, value) in Edca::values_of(&defaults) {
        values.entry(name).or_insert(value);
    }
}

impl Edca {
    /// Returns each category whose maximum contention window is below the minimum: the key of the minimum, and both
    /// values.
    pub fn contradictions(&self) -> impl Iterator<Item = (&'static str, u32, u32)> {
        let of = [
            ("vo_cw_min", self.vo_cw_min, self.vo_cw_max),
            ("vi_cw_min", self.vi_cw_min, self.vi_cw_max),
            ("be_cw_min", self.be_cw_min, self.be_cw_max),
            ("bk_cw_min", self.bk_cw_min, self.bk_cw_max),
        ];
        of.into_iter().filter(|(_, least, largest)| least > largest)
    }
}
