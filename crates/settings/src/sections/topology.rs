//! `[topology]`: positions of the nodes.

use crate::key::{Choice, Fallback::*, Kind, length};
use crate::value::{Metres, Value};
use crate::{choice, section};

choice! {
    /// Shape of the network.
    TopologyKind {
        Chain = "chain", "nodes in a line";
        ParallelChains = "parallel-chains", "several parallel lines";
        Cross = "cross", "a horizontal and a vertical line that share their middle node";
        Grid = "grid", "rows and columns; nodes are numbered row by row";
        Random = "random", "uniform over a rectangle, drawn until connected";
        Positions = "positions", "each node at a given position";
        Coordinates = "coordinates", "each node at a given latitude and longitude";
    }
}

section! {
    /// Positions of the nodes. Nodes are numbered from 0.
    TopologyKeys = "topology" {
        /// Shape of the network.
        kind: TopologyKind, Kind::Choice(TopologyKind::CHOICES), Required;
        /// Number of chains.
        chains: Option<u32>, Kind::Int(2, 64), Computed("2, or as many as `hops` lists"), &["parallel-chains"];
        /// Hops from end to end. Parallel chains may have a list with one number per chain; a cross needs an even
        /// number.
        hops: Option<Value>, Kind::IntOrList(1, 256, &["parallel-chains"]), Required,
            &["chain", "parallel-chains", "cross"];
        /// Columns of nodes.
        columns: Option<u32>, Kind::Int(1, 64), Required, &["grid"];
        /// Rows of nodes.
        rows: Option<u32>, Kind::Int(1, 64), Required, &["grid"];
        /// Distance between neighbours.
        spacing: Option<Metres>, length("0.1m", "100km"), Both("200m"), &["chain", "parallel-chains", "cross", "grid"];
        /// Distance between neighbouring chains.
        separation: Option<Metres>, length("0.1m", "100km"), Both("400m"), &["parallel-chains"];
        /// Align chains of different lengths at their middles, not at their first nodes.
        centred: Option<bool>, Kind::Bool, Both("true"), &["parallel-chains"];
        /// Number of nodes.
        nodes: Option<u32>, Kind::Int(2, 5_000), Required, &["random"];
        /// Width of the rectangle.
        width: Option<Metres>, length("0.1m", "1000km"), Required, &["random"];
        /// Height of the rectangle.
        height: Option<Metres>, length("0.1m", "1000km"), Required, &["random"];
        /// Maximum number of attempts to draw a connected network.
        redraws: Option<u32>, Kind::Int(1, 100_000), Both("1000"), &["random"];
        /// Seed of positions and random pairs; none: the seed of the run.
        seed: Option<u64>, Kind::Int(0, 9_007_199_254_740_991), Both("none"), &["random"];
        /// Positions of the nodes, such as `[["0m", "0m"], ["200m", "0m"]]`.
        positions: Option<Value>, Kind::Positions, Required, &["positions"];
        /// Positions of the nodes in degrees of latitude and longitude (WGS 84), such as `[[52.5163, 13.3777],
        /// [52.5180, 13.3800]]`. They are converted to metres east and north of the first node (equirectangular
        /// projection; off by 0.2 % over 10 km at 50 degrees).
        coordinates: Option<Value>, Kind::Coordinates, Required, &["coordinates"];
    }
}
