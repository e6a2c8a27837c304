use super::*;
use fourhop_units::{Purpose, Stream};

const RANGE: f64 = 250.0107;

fn random(nodes: u32, width: f64, height: f64) -> Topology {
    Topology::Random { nodes, width, height, redraws: 1000, seed: None }
}

#[test]
fn a_chain_is_a_line() {
    let chain = Topology::Chain { hops: 3, spacing: 200.0 };
    assert_eq!(chain.place(1, RANGE).unwrap(), [(0.0, 0.0), (200.0, 0.0), (400.0, 0.0), (600.0, 0.0)]);
    assert_eq!(chain.natural_pairs(), [(NodeId(0), NodeId(3))]);
}

#[test]
fn chains_of_different_length_share_their_middle() {
    let mut hops = Topology::ParallelChains { hops: vec![2, 4], spacing: 200.0, separation: 400.0, centred: true };
    let places = hops.place(1, RANGE).unwrap();
    assert_eq!(places[..3], [(200.0, 0.0), (400.0, 0.0), (600.0, 0.0)]);
    assert_eq!(places[3..5], [(0.0, 400.0), (200.0, 400.0)]);
    assert_eq!(hops.natural_pairs(), [(NodeId(0), NodeId(2)), (NodeId(3), NodeId(7))]);
    if let Topology::ParallelChains { centred, .. } = &mut hops {
        *centred = false;
    }
    assert_eq!(hops.place(1, RANGE).unwrap()[0], (0.0, 0.0));
}

#[test]
fn the_lines_of_a_cross_share_one_node() {
    let cross = Topology::Cross { hops: 4, spacing: 200.0 };
    let places = cross.place(1, RANGE).unwrap();
    assert_eq!(places.len(), 9);
    assert_eq!((places[0], places[2], places[4]), ((0.0, 400.0), (400.0, 400.0), (800.0, 400.0)));
    assert_eq!(places[5..], [(400.0, 0.0), (400.0, 200.0), (400.0, 600.0), (400.0, 800.0)]);
    assert_eq!(cross.natural_pairs(), [(NodeId(0), NodeId(4)), (NodeId(5), NodeId(8))]);
    let graph = Graph::new(&places, RANGE);
    assert_eq!(graph.hops_from(NodeId(5))[8], Some(4));
    assert_eq!(graph.neighbours(NodeId(2)).collect::<Vec<_>>(), [NodeId(1), NodeId(3), NodeId(6), NodeId(7)]);
}

#[test]
fn a_grid_is_numbered_row_by_row() {
    let grid = Topology::Grid { columns: 3, rows: 2, spacing: 100.0 };
    let places = grid.place(1, RANGE).unwrap();
    assert_eq!(places[2], (200.0, 0.0));
    assert_eq!(places[3], (0.0, 100.0));
    let ends: Vec<_> = grid.natural_pairs().iter().map(|(from, to)| (from.0, to.0)).collect();
    assert_eq!(ends, [(0, 2), (3, 5), (0, 3), (1, 4), (2, 5)]);
    // A single row has no columns to speak of.
    let row = Topology::Grid { columns: 3, rows: 1, spacing: 100.0 };
    assert_eq!(row.natural_pairs().len(), 1);
}

#[test]
fn random_networks_are_connected_and_a_function_of_the_seed() {
    let network = random(60, 1500.0, 800.0);
    for seed in 1..20 {
        let places = network.place(seed, RANGE).unwrap();
        assert!(Graph::new(&places, RANGE).is_connected());
        assert!(places.iter().all(|&(x, y)| (0.0..1500.0).contains(&x) && (0.0..800.0).contains(&y)));
        assert_eq!(places, network.place(seed, RANGE).unwrap());
        assert_ne!(places, network.place(seed + 1, RANGE).unwrap());
    }
}

#[test]
fn a_seed_of_its_own_fixes_the_places() {
    let Topology::Random { nodes, width, height, redraws, .. } = random(30, 800.0, 800.0) else { unreachable!() };
    let fixed = Topology::Random { nodes, width, height, redraws, seed: Some(5) };
    assert_eq!(fixed.place(1, RANGE), fixed.place(2, RANGE));
    assert_eq!(fixed.place(1, RANGE), random(30, 800.0, 800.0).place(5, RANGE));
}

#[test]
fn a_network_too_sparse_is_given_up() {
    let sparse = Topology::Random { nodes: 10, width: 1e5, height: 1e5, redraws: 50, seed: None };
    assert_eq!(sparse.place(1, RANGE), Err(Disconnected { draws: 50 }));
}

#[test]
fn unreachable_nodes_have_no_hops() {
    let graph = Graph::new(&[(0.0, 0.0), (200.0, 0.0), (1000.0, 0.0)], RANGE);
    assert_eq!(graph.hops_from(NodeId(0)), [Some(0), Some(1), None]);
    assert!(!graph.is_connected());
}

/// Random positions, and a grid with nodes exactly as far apart as links reach.
fn fields() -> Vec<Vec<Position>> {
    let mut stream = Stream::global(4, Purpose::Topology);
    let scattered = (0..120).map(|_| (stream.unit() * 2400.0 - 900.0, stream.unit() * 2400.0 - 900.0)).collect();
    let grid = Topology::Grid { columns: 7, rows: 6, spacing: RANGE };
    vec![scattered, grid.place(1, RANGE).unwrap()]
}

#[test]
fn a_graph_links_exactly_the_nodes_in_range() {
    for places in fields() {
        let graph = Graph::new(&places, RANGE);
        for (a, here) in places.iter().enumerate() {
            let near = |&b: &usize| {
                let (dx, dy) = (places[b].0 - here.0, places[b].1 - here.1);
                a != b && dx * dx + dy * dy <= RANGE * RANGE
            };
            let expected: Vec<_> = (0..places.len()).filter(near).map(|b| NodeId(b as u32)).collect();
            assert_eq!(graph.neighbours(NodeId(a as u32)).collect::<Vec<_>>(), expected);
        }
    }
}

#[test]
fn searches_from_both_ends_find_as_many_hops_as_those_from_one() {
    for places in fields() {
        let graph = Graph::new(&places, RANGE);
        let mut search = graph.search();
        let mut apart = 0;
        for from in (0..places.len() as u32).map(NodeId) {
            let hops = graph.hops_from(from);
            for to in (0..places.len() as u32).map(NodeId) {
                assert_eq!(search.hops(from, &[to]), hops[to.index()], "{from} {to}");
                let several = [to, NodeId(5), NodeId(17)];
                let nearest = several.iter().filter_map(|to| hops[to.index()]).min();
                assert_eq!(search.hops(from, &several), nearest, "{from} {several:?}");
                apart += usize::from(hops[to.index()].is_none());
            }
            assert_eq!(search.hops(from, &[]), None);
        }
        assert!(apart > 0 || places.len() == 42, "the scattered nodes are in several parts");
    }
}
