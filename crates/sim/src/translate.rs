//! Translates a scenario to a [`Setup`]. The options of the layers come from the scenario itself; flows get their
//! applications here.

use crate::batch::Control;
use crate::scenario::sections::UnawareNodes;
use crate::scenario::{App, FlowTransport, NetworkFlow, Scenario, ScenarioError, Traffic as ScenarioTraffic};
use crate::setup::{C3tcp, Flow, Setup, Source, Traffic};
use fourhop_proto::app::{cbr, files, ping, transfer};
use fourhop_proto::mac::OptionsRule;
use fourhop_proto::{ccm, node};

/// Returns the setup of the run with `seed`, and its flows as named in the scenario. The search for a random network
/// ends when `control` is stopped.
///
/// # Errors
/// If every draw of a random topology was disconnected until `control` was stopped.
pub fn setup(scenario: &Scenario, seed: u64, control: &Control) -> Result<(Setup, Vec<NetworkFlow>), ScenarioError> {
    let network = scenario.network_under(seed, control)?;
    let flows = network
        .flows
        .iter()
        .map(|flow| Flow {
            src: flow.src,
            dst: flow.dst,
            traffic: traffic(scenario, &flow.traffic),
            dscp: flow.traffic.dscp,
        })
        .collect();
    let setup = Setup {
        positions: network.positions.clone(),
        radios: (!scenario.radios.is_empty()).then(|| scenario.stations()),
        movement: scenario.movement.clone(),
        radio: scenario.radio_setup(),
        site: scenario.site(),
        node: node::Config {
            phy: scenario.receiver_config(),
            mac: scenario.mac_config(),
            link: scenario.link_config(),
            ttl: DEFAULT_TTL,
        },
        routing: scenario.routing_setup(),
        wired: scenario.wired_plan(&network.gateways),
        discipline: scenario.discipline_config(),
        flows,
        c3tcp: c3tcp(scenario),
        without_mcs: scenario.without_mcs(),
        particular: scenario.particular(),
    };
    Ok((setup, network.flows))
}

fn c3tcp(scenario: &Scenario) -> Option<C3tcp> {
    let keys = &scenario.c3tcp;
    keys.enabled.then(|| C3tcp {
        options: ccm::Options { simulated: true, ..scenario.c3tcp_options() },
        rule: OptionsRule::Measure { backward_queueing: keys.backward_queueing },
        unaware: keys.unaware_nodes().into_iter().collect(),
        unaware_rule: match keys.unaware_nodes {
            UnawareNodes::Strip => OptionsRule::Strip,
            UnawareNodes::Pass => OptionsRule::Pass,
        },
    })
}

/// Time to live that transports give their packets (RFC 1700); routing may use another.
const DEFAULT_TTL: u8 = 64;

fn traffic(scenario: &Scenario, traffic: &ScenarioTraffic) -> Traffic {
    let (start, stop) = (traffic.start, traffic.stop);
    match (traffic.transport, traffic.app) {
        (FlowTransport::Tcp(transport), app) => {
            let source = match app {
                App::Files { mean_size, shape, mean_pause, fresh } => {
                    Source::Files(files::Config { start, stop, mean_size, shape, mean_pause, fresh })
                }
                App::Stream { rate } => {
                    Source::Transfer(transfer::Config { start, stop, size: None, rate: Some(rate) })
                }
                App::Transfer { size } => {
                    Source::Transfer(transfer::Config { start, stop, size: Some(size), rate: None })
                }
                _ => Source::Transfer(transfer::Config { start, stop, size: None, rate: None }),
            };
            Traffic::Tcp { transport, config: Box::new(scenario.tcp_config(traffic)), source }
        }
        (FlowTransport::Own(own), app @ (App::Bulk | App::Transfer { .. })) => {
            let size = if let App::Transfer { size } = app { Some(size) } else { None };
            Traffic::Own(scenario.own_options(own), transfer::Config { start, stop, size, rate: None })
        }
        (_, App::Cbr { rate, payload }) => Traffic::Udp(cbr::Config { start, stop, rate, payload }),
        (_, App::Ping { interval, outstanding, payload }) => {
            Traffic::Ping(ping::Config { start, stop, interval, outstanding, payload })
        }
        // INVARIANT: the scenario's reader pairs udp with cbr and ping with ping.
        (transport, app) => unreachable!("{} carries no {app:?}", transport.name()),
    }
}
