//! Tests of whole networks, all in one program, so that only one is linked.

mod common;

mod adaptive_pacing;
mod adhoc_tcp;
mod ages;
mod aggregation;
mod agreement;
mod aodv_messages;
mod ap2;
mod atp;
mod babel;
mod beside_ns3;
mod bianchi;
mod bits;
mod c3tcp;
mod conservation;
mod determinism;
mod driver;
mod edca;
mod far_apart;
mod gateway;
mod inputs;
mod metric;
mod mixed;
mod mobility;
mod modern_tcp;
mod neighbourhood_red;
mod ns2_rules;
mod outside;
mod paced_link;
mod packets;
mod pcap;
mod radios;
mod rate_control;
mod results;
mod saturation;
mod series;
mod sinr;
mod site;
mod soak;
mod trace;
mod wired;
mod worked_example;

/// A file that is not declared above would not be run.
#[test]
fn every_file_of_this_folder_is_a_module_of_this_program() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    for entry in std::fs::read_dir(folder).unwrap() {
        let file = entry.unwrap().file_name().into_string().unwrap();
        if let Some(module) = file.strip_suffix(".rs").filter(|name| *name != "main") {
            assert!(include_str!("main.rs").contains(&format!("\nmod {module};\n")), "main.rs does not name {file}");
        }
    }
}
