//! The file of a setup: `[mesh]` gets the findings, everything else stays unchanged.

use super::find::Routing;
use super::rate::Learned;
use toml_edit::{Array, DocumentMut, Item, Table, Value, value};

/// Hops of 802.11s: its paths, by MAC address, joined with the addresses of its neighbours.
const PATHS: &str = "iw dev DEVICE mpath dump | awk '$1 ~ /:/ {print $1, $10}' | while read mac hops; do ip -4 neigh \
    show dev DEVICE | \
                     awk -v mac=$mac -v hops=$hops '$3 == mac {print $1, hops}'; done";

/// Hop count written if nothing gives it.
const ASSUMED: i64 = 2;

/// The new text of a file, and a line of explanation for each key. With `fill`, existing keys stay.
///
/// # Errors
/// If the text is not TOML.
pub fn file(
    before: &str,
    devices: &[(String, String)],
    routing: Routing,
    learned: &Learned,
    fill: bool,
) -> Result<(String, Vec<String>), String> {
    let mut document: DocumentMut = before.parse().map_err(|error: toml_edit::TomlError| error.to_string())?;
    let mesh = document.entry("mesh").or_insert_with(|| Item::Table(Table::new()));
    let mesh = mesh.as_table_mut().ok_or("mesh: found no table, allowed: [mesh]")?;
    let mut lines = Vec::new();
    let mut set = |mesh: &mut Table, key: &str, new: Value, why: &str| {
        if fill && mesh.contains_key(key) {
            return;
        }
        let shown = new.to_string();
        lines.push(format!("{key} = {}: {why}", shown.trim()));
        // Comments and whitespace around the old value stay.
        match mesh.get_mut(key).and_then(Item::as_value_mut) {
            Some(old) => {
                let decor = old.decor().clone();
                *old = new;
                *old.decor_mut() = decor;
            }
            None => {
                mesh.insert(key, value(new));
            }
        }
    };
    let why: Vec<&str> = devices.iter().map(|(_, why)| &why[..]).collect();
    set(mesh, "devices", devices.iter().map(|(name, _)| &name[..]).collect::<Array>().into(), &why.join("; "));
    set(mesh, "rate", format!("{}kbps", learned.rate.bps() / 1000).into(), &learned.how);
    let (hops, why) = match routing {
        Routing::Aodv => ("aodv", "fourhop-aodvd routes, and its socket reports hops".to_owned()),
        Routing::Ip(name) => ("ttl", format!("{name} routes by IP, so the time to live gives the hops")),
        Routing::Nothing => {
            ("ttl", "found no routing daemon; the time to live gives the hops if nodes route by IP".to_owned())
        }
        Routing::Mesh80211s => ("command", "802.11s routes below IP, and `iw` reports hops (since 5.9)".to_owned()),
        Routing::BatmanAdv => ("table", "batman-adv routes below IP and reports no hops".to_owned()),
    };
    set(mesh, "hops", hops.into(), &why);
    // Of the keys specific to one kind of routing, those of the others are removed.
    let hops = mesh.get("hops").and_then(Item::as_str).unwrap_or_default().to_owned();
    if routing == Routing::Mesh80211s && hops == "command" {
        let command = PATHS.replace("DEVICE", devices.first().map_or("", |(name, _)| name));
        let words: Array = ["sh", "-c", &command].into_iter().collect();
        set(mesh, "command", words.into(), "prints addresses and hops");
    } else if hops != "command" {
        mesh.remove("command");
    }
    if hops != "aodv" {
        mesh.remove("socket");
    }
    if hops == "table" && !document.contains_key("node") {
        let mut node = Table::new();
        node.insert("to", value("0.0.0.0/0"));
        node.insert("hops", value(ASSUMED));
        let mut nodes = toml_edit::ArrayOfTables::new();
        nodes.push(node);
        document.insert("node", Item::ArrayOfTables(nodes));
        lines.push(format!(
            "[[node]] hops = {ASSUMED}: ASSUMED for every node; `batctl traceroute` shows how far nodes are"
        ));
    }
    Ok((document.to_string(), lines))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Source};
    use fourhop_units::Rate;

    fn learned() -> Learned {
        Learned { rate: Rate::kbps(5_500), how: "measured".to_owned() }
    }

    fn mesh(name: &str) -> Vec<(String, String)> {
        vec![(name.to_owned(), "an 802.11s mesh".to_owned())]
    }

    fn read(text: &str) -> Config {
        Config::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn every_kind_of_routing_gives_a_sound_file() {
        for (routing, source) in [
            (Routing::Aodv, "Aodv"),
            (Routing::Ip("babeld"), "Ttl"),
            (Routing::Nothing, "Ttl"),
            (Routing::Mesh80211s, "Command"),
            (Routing::BatmanAdv, "Table"),
        ] {
            for before in ["", include_str!("../../../../packaging/gateway.toml")] {
                let (text, lines) = file(before, &mesh("mesh7"), routing, &learned(), false).unwrap();
                let config = read(&text);
                assert_eq!((&config.devices[..], config.rate), (&["mesh7".to_owned()][..], Rate::kbps(5_500)));
                assert!(format!("{:?}", config.source).starts_with(source), "{text}");
                assert!(lines.len() >= 3 && lines[1] == "rate = \"5500kbps\": measured", "{lines:?}");
            }
        }
    }

    #[test]
    fn what_else_the_file_says_stays() {
        let before = "# ours\n[mesh]\ndevices = ['a'] # old\nrate = '2Mbps'\nhops = 'command'\ncommand = ['x']\n\n\
            [pace]\nshare = 'own' # we like it\n";
        let (text, _) = file(before, &mesh("b"), Routing::Ip("babeld"), &learned(), false).unwrap();
        assert!(text.starts_with("# ours\n[mesh]\ndevices = [\"b\"] # old\n"), "{text}");
        assert!(text.ends_with("[pace]\nshare = 'own' # we like it\n") && !text.contains("command"), "{text}");
        assert_eq!(read(&text).source, Source::Ttl);
        let (again, _) = file(&text, &mesh("b"), Routing::Ip("babeld"), &learned(), false).unwrap();
        assert_eq!(again, text, "a second time changes nothing");
        let filled = file("[mesh]\nhops = 'aodv'\n", &mesh("b"), Routing::Ip("babeld"), &learned(), true).unwrap().0;
        assert!(matches!(read(&filled).source, Source::Aodv(..)), "what is there stays: {filled}");
        assert!(file("[mesh", &mesh("b"), Routing::Nothing, &learned(), false).is_err());
    }

    #[test]
    fn a_line_for_people_says_each_key_and_why() {
        let devices = vec![("a".to_owned(), "one".to_owned()), ("b".to_owned(), "two".to_owned())];
        let (text, lines) = file("", &devices, Routing::BatmanAdv, &learned(), false).unwrap();
        let expected = [
            "devices = [\"a\", \"b\"]: one; two",
            "rate = \"5500kbps\": measured",
            "hops = \"table\": batman-adv routes below IP and reports no hops",
            "[[node]] hops = 2: ASSUMED for every node; `batctl traceroute` shows how far nodes are",
        ];
        assert_eq!(lines, expected);
        assert_eq!(read(&text).table.iter().map(|entry| entry.hops).collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn an_own_table_of_nodes_stays() {
        let before = "[[node]]\nto = '10.0.0.4'\nhops = 3\n";
        let (text, lines) = file(before, &mesh("b"), Routing::BatmanAdv, &learned(), false).unwrap();
        assert_eq!(read(&text).table.iter().map(|entry| entry.hops).collect::<Vec<_>>(), [3], "{text}");
        assert_eq!(lines.len(), 3, "{lines:?}");
    }

    #[test]
    fn keys_of_another_routing_go_and_those_of_this_one_stay() {
        let before = "[mesh]\nhops = 'aodv'\nsocket = '/s'\ncommand = ['x']\n";
        let (text, _) = file(before, &mesh("b"), Routing::Aodv, &learned(), false).unwrap();
        assert!(text.contains("socket = '/s'") && !text.contains("command"), "{text}");
        let (text, _) = file(before, &mesh("b"), Routing::Nothing, &learned(), false).unwrap();
        assert!(!text.contains("socket") && !text.contains("command"), "{text}");
        let ours = "[mesh]\nhops = 'command'\ncommand = ['x']\n";
        let (text, lines) = file(ours, &mesh("b"), Routing::Aodv, &learned(), true).unwrap();
        assert!(text.contains("command = ['x']"), "what is there stays: {text}");
        assert!(lines.iter().all(|line| !line.starts_with("hops")), "{lines:?}");
    }

    #[test]
    fn paths_of_802_11s_are_asked_of_the_device() {
        let (text, lines) = file("", &mesh("mesh7"), Routing::Mesh80211s, &learned(), false).unwrap();
        let Source::Command(words, _) = read(&text).source else { panic!("{text}") };
        assert_eq!((&words[0][..], &words[1][..], words.len()), ("sh", "-c", 3));
        assert!(words[2].starts_with("iw dev mesh7 mpath dump | ") && !words[2].contains("DEVICE"), "{words:?}");
        assert!(lines[3].starts_with("command = [\"sh\", ") && lines[3].ends_with(": prints addresses and hops"));
        let table = "[mesh]\nhops = 'table'\n[[node]]\nto = '10.0.0.4'\nhops = 3\n";
        let (text, _) = file(table, &mesh("mesh7"), Routing::Mesh80211s, &learned(), true).unwrap();
        assert!(!text.contains("command"), "the table is asked: {text}");
    }

    #[test]
    fn a_mesh_that_is_no_table_is_refused() {
        let said = file("mesh = 3\n", &mesh("b"), Routing::Nothing, &learned(), false).unwrap_err();
        assert_eq!(said, "mesh: found no table, allowed: [mesh]");
    }
}
