//! Routes and rules of a program with a routing table of its own, marked with its protocol number, by which they are
//! found after it was killed.

use super::answer::{answered, asking};
use super::ask::attributes;
use super::{Batch, CREATE, REQUEST, Route, messages};
use crate::{Error, Tried};
use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, SockProtocol, send};
use std::collections::BTreeSet;
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::AsRawFd;

/// Length of `struct rtmsg` and of `struct fib_rule_hdr`.
const HEAD: usize = 12;
/// `RTM_NEWRULE`, `RTM_DELRULE` and `RTM_GETRULE` of linux/rtnetlink.h; attributes and the action of linux/fib_rules.h.
const NEW_RULE: u16 = 32;
const REMOVE_RULE: u16 = 33;
const GET_RULE: u16 = 34;
const RULE_PRIORITY: u16 = 6;
const RULE_TABLE: u16 = 15;
const RULE_PROTOCOL: u16 = 21;
const TO_TABLE: u8 = 1;

/// The owner of a route: protocol number and table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Owner {
    /// `rtm_protocol`. A daemon's is above 4, `RTPROT_STATIC` (rtnetlink(7)).
    pub protocol: u8,
    /// The table.
    pub table: u32,
}

impl Owner {
    /// Routes configured by hand.
    pub const STATIC: Owner = Owner { protocol: libc::RTPROT_STATIC, table: libc::RT_TABLE_MAIN as u32 };
}

/// A route in the kernel: table, network with prefix length, next hop, device, priority.
pub type Written = (u32, (Ipv4Addr, u8), Option<Ipv4Addr>, u32, u32);

/// A program's entries in the kernel.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Present {
    /// Table and priority of its rules.
    pub rules: BTreeSet<(u32, u32)>,
    /// Its routes.
    pub routes: BTreeSet<Written>,
}

impl Route {
    /// The route's form in the kernel, in this table.
    pub fn written(&self, table: u32) -> Written {
        (table, self.to, self.via, self.device, self.priority)
    }
}

fn word(content: Option<&[u8]>) -> Option<u32> {
    Some(u32::from_ne_bytes(content?.try_into().ok()?))
}

/// Parses a route from struct rtmsg and its attributes.
fn written(head: &[u8], rest: &[u8]) -> Written {
    let of = |wanted| attributes(rest).find(|(kind, _)| *kind == wanted).map(|(_, content)| content);
    let address = |wanted| Some(Ipv4Addr::from(<[u8; 4]>::try_from(of(wanted)?).ok()?));
    let number = |wanted| word(of(wanted)).unwrap_or(0);
    let table = word(of(libc::RTA_TABLE)).unwrap_or(u32::from(head[4]));
    let to = (address(libc::RTA_DST).unwrap_or(Ipv4Addr::UNSPECIFIED), head[1]);
    (table, to, address(libc::RTA_GATEWAY), number(libc::RTA_OIF), number(libc::RTA_PRIORITY))
}

/// The originator of the route or rule whose removal a kernel message reports.
pub(super) fn gone(kind: u16, content: &[u8]) -> Option<u8> {
    let (head, rest) = content.split_at_checked(HEAD)?;
    match kind {
        libc::RTM_DELROUTE => Some(head[5]),
        REMOVE_RULE => attributes(rest).find(|(kind, _)| *kind == RULE_PROTOCOL)?.1.first().copied(),
        _ => None,
    }
}

impl Batch {
    /// Removes a route.
    pub fn remove_route(&mut self, owner: Owner, (network, bits): (Ipv4Addr, u8), priority: u32) {
        self.begin(libc::RTM_DELROUTE, REQUEST, || format!("removal of the route to {network}/{bits}"));
        self.bytes.extend([libc::AF_INET as u8, bits, 0, 0, 0, owner.protocol, libc::RT_SCOPE_NOWHERE, 0]);
        self.word(0);
        self.attribute(libc::RTA_DST, &network.octets());
        self.attribute(libc::RTA_TABLE, &owner.table.to_ne_bytes());
        self.attribute(libc::RTA_PRIORITY, &priority.to_ne_bytes());
        self.end();
    }

    /// Adds a rule: look up the owner's table before those of rules with higher priority numbers.
    pub fn own_rule(&mut self, owner: Owner, priority: u32) {
        self.begin(NEW_RULE, CREATE, || format!("rule {priority} for table {}", owner.table));
        // struct fib_rule_hdr: family, prefix lengths of the two networks, TOS, table, two reserved, action, flags.
        self.bytes.extend([libc::AF_INET as u8, 0, 0, 0, 0, 0, 0, TO_TABLE]);
        self.word(0);
        self.attribute(RULE_PRIORITY, &priority.to_ne_bytes());
        self.attribute(RULE_TABLE, &owner.table.to_ne_bytes());
        self.attribute(RULE_PROTOCOL, &[owner.protocol]);
        self.end();
    }

    /// Removes everything written under this protocol number in the namespace of this thread: rules, and routes of all
    /// tables. Returns their number.
    ///
    /// # Errors
    /// If the kernel does not list them, or refuses to remove them.
    pub fn remove_all_of(protocol: u8) -> Result<usize, Error> {
        let mut batch = Batch::default();
        for rule in dump(GET_RULE)? {
            let Some((head, rest)) = rule.split_at_checked(HEAD) else { continue };
            if attributes(rest).any(|(kind, content)| kind == RULE_PROTOCOL && content == [protocol]) {
                batch.echo(REMOVE_RULE, head, rest, "removal of a rule");
            }
        }
        for route in dump(libc::RTM_GETROUTE)? {
            let Some((head, rest)) = route.split_at_checked(HEAD) else { continue };
            // Byte 5 of struct rtmsg is the protocol, byte 0 the family.
            if head[5] == protocol && i32::from(head[0]) == libc::AF_INET {
                batch.echo(libc::RTM_DELROUTE, head, rest, "removal of a route");
            }
        }
        // One that has disappeared with its device in the meantime is no error.
        batch.send_but(&[Errno::ESRCH, Errno::ENODEV, Errno::ENOENT])?;
        Ok(batch.requests.len())
    }

    /// Routes and rules under this protocol number in the namespace of this thread.
    ///
    /// # Errors
    /// If the kernel does not list them.
    pub fn all_of(protocol: u8) -> Result<Present, Error> {
        let mut present = Present::default();
        for rule in dump(GET_RULE)? {
            let Some((_, rest)) = rule.split_at_checked(HEAD) else { continue };
            let of = |wanted| attributes(rest).find(|(kind, _)| *kind == wanted).map(|(_, content)| content);
            if of(RULE_PROTOCOL) == Some(&[protocol][..])
                && let (Some(table), Some(priority)) = (word(of(RULE_TABLE)), word(of(RULE_PRIORITY)))
            {
                present.rules.insert((table, priority));
            }
        }
        for route in dump(libc::RTM_GETROUTE)? {
            let Some((head, rest)) = route.split_at_checked(HEAD) else { continue };
            if head[5] == protocol && i32::from(head[0]) == libc::AF_INET {
                present.routes.insert(written(head, rest));
            }
        }
        Ok(present)
    }

    /// Sends a request with the content that the kernel returned.
    fn echo(&mut self, kind: u16, head: &[u8], rest: &[u8], name: &str) {
        self.begin(kind, REQUEST, || name.to_owned());
        self.bytes.extend(head);
        self.bytes.extend(rest);
        self.end();
    }

    /// Like [`Batch::send`], but ignores some refusals.
    ///
    /// # Errors
    /// The first other refusal.
    pub fn send_but(&self, allowed: &[Errno]) -> Result<(), Error> {
        let refused = self.exchange()?.into_iter().find(|(_, error)| !allowed.contains(error));
        match refused {
            None => Ok(()),
            Some((number, error)) => {
                let name = self.requests.get(number).map_or("a request", |(_, name)| name);
                Err(io::Error::from(error)).tried(|| name.to_owned())
            }
        }
    }
}

/// All IPv4 routes or rules, in the kernel's format.
fn dump(kind: u16) -> Result<Vec<Vec<u8>>, Error> {
    let mut batch = Batch::default();
    let flags = (libc::NLM_F_REQUEST | libc::NLM_F_DUMP) as u16;
    batch.begin(kind, flags, || "contents of the kernel's tables".to_owned());
    batch.bytes.extend([libc::AF_INET as u8]);
    batch.bytes.extend([0; HEAD - 1]);
    batch.end();
    all_answers(SockProtocol::NetlinkRoute, &batch.bytes, "contents of the kernel's tables")
}

/// Sends one question with a multi-part answer; returns the contents of all parts.
pub(super) fn all_answers(protocol: SockProtocol, question: &[u8], what: &str) -> Result<Vec<Vec<u8>>, Error> {
    let failed = || what.to_owned();
    let socket = asking(protocol).tried(failed)?;
    send(socket.as_raw_fd(), question, MsgFlags::empty()).tried(failed)?;
    let (mut all, mut buffer) = (Vec::new(), vec![0; 64 * 1024]);
    loop {
        let got = answered(&socket, &mut buffer).tried(failed)?;
        for message in messages(&buffer[..got]) {
            match message.code() {
                None if i32::from(message.kind) == libc::NLMSG_DONE => return Ok(all),
                None => all.push(message.content.to_vec()),
                Some(0) => return Ok(all),
                Some(code) => return Err(io::Error::from(Errno::from_raw(-code))).tried(failed),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netlink::LOOPBACK;

    fn content(head: [u8; HEAD], attributes: &[(u16, &[u8])]) -> Vec<u8> {
        let mut batch = Batch::default();
        batch.bytes.extend(head);
        attributes.iter().for_each(|(kind, content)| batch.attribute(*kind, content));
        batch.bytes
    }

    #[test]
    fn routes_that_have_gone_are_found_by_their_originator() {
        let route = content([2, 32, 0, 0, 0, 142, 0, 0, 0, 0, 0, 0], &[(RULE_PROTOCOL, &[7])]);
        assert_eq!(gone(libc::RTM_DELROUTE, &route), Some(142));
        assert_eq!(gone(REMOVE_RULE, &route), Some(7));
        assert_eq!(gone(libc::RTM_NEWROUTE, &route), None);
        assert_eq!(gone(REMOVE_RULE, &route[..HEAD]), None, "a rule of nobody");
        assert_eq!(gone(libc::RTM_DELROUTE, &route[..HEAD - 1]), None, "what is cut off");
    }

    #[test]
    fn a_route_is_read_as_it_was_written() {
        let word = |word: u32| word.to_ne_bytes();
        let head = [2, 24, 0, 0, 254, 142, 0, 0, 0, 0, 0, 0];
        let all = content(
            head,
            &[
                (libc::RTA_DST, &[10, 0, 0, 0]),
                (libc::RTA_TABLE, &word(1_000)),
                (libc::RTA_PRIORITY, &word(5)),
                (libc::RTA_OIF, &word(3)),
                (libc::RTA_GATEWAY, &[10, 0, 0, 9]),
            ],
        );
        let [to, via, from] = [[10, 0, 0, 0], [10, 0, 0, 9], [10, 0, 0, 1]].map(Ipv4Addr::from);
        let route = Route { to: (to, 24), device: 3, via: Some(via), from, priority: 5 };
        assert_eq!(written(&all[..HEAD], &all[HEAD..]), route.written(1_000));
        let everywhere = (254, (Ipv4Addr::UNSPECIFIED, 24), None, 0, 0);
        assert_eq!(written(&head, &[]), everywhere, "the table of the head, where no attribute says another");
    }

    #[test]
    fn a_removal_names_the_route_with_its_owner() {
        let mut batch = Batch::default();
        batch.remove_route(Owner { protocol: 142, table: 1_000 }, (Ipv4Addr::new(10, 0, 0, 9), 32), 5);
        batch.own_rule(Owner { protocol: 142, table: 1_000 }, 77);
        let sent: Vec<_> = messages(&batch.bytes).collect();
        let [route, rule] = &sent[..] else { panic!("{} messages", sent.len()) };
        assert_eq!((route.kind, rule.kind), (libc::RTM_DELROUTE, NEW_RULE));
        assert_eq!(route.content[..8], [libc::AF_INET as u8, 32, 0, 0, 0, 142, libc::RT_SCOPE_NOWHERE, 0]);
        let expected = (1_000, (Ipv4Addr::new(10, 0, 0, 9), 32), None, 0, 5);
        assert_eq!(written(&route.content[..HEAD], &route.content[HEAD..]), expected);
        assert_eq!(rule.content[..8], [libc::AF_INET as u8, 0, 0, 0, 0, 0, 0, TO_TABLE]);
        let of =
            |wanted| attributes(&rule.content[HEAD..]).find(|(kind, _)| *kind == wanted).map(|(_, content)| content);
        assert_eq!((word(of(RULE_TABLE)), word(of(RULE_PRIORITY))), (Some(1_000), Some(77)));
        assert_eq!(of(RULE_PROTOCOL), Some(&[142][..]));
    }

    #[test]
    fn what_was_written_under_a_number_is_found_again_and_removed_and_nothing_else() {
        crate::test_network::in_namespace(|| {
            let [own, other] = [142, 143].map(|protocol| Owner { protocol, table: 1_000 });
            let [to, from] = [[10, 0, 0, 9], [127, 0, 0, 1]].map(Ipv4Addr::from);
            let route = Route { to: (to, 32), device: LOOPBACK, via: None, from, priority: 0 };
            let another = Route { to: (to, 31), priority: 9, ..route };
            let mut batch = Batch::default();
            assert_eq!(Batch::all_of(142).unwrap(), Present::default());
            batch.route(own, route);
            batch.route(own, Route { to: (Ipv4Addr::new(10, 0, 0, 8), 31), ..another });
            batch.own_rule(own, 77);
            batch.route(other, Route { to: (Ipv4Addr::new(10, 0, 1, 9), 32), ..route });
            batch.send().unwrap();
            let present = Batch::all_of(142).unwrap();
            assert_eq!(present.rules, [(1_000, 77)].into());
            let wide = Route { to: (Ipv4Addr::new(10, 0, 0, 8), 31), ..another };
            assert_eq!(present.routes, [route.written(1_000), wide.written(1_000)].into());
            let mut batch = Batch::default();
            batch.remove_route(own, (to, 32), 0);
            batch.send().unwrap();
            let error = batch.send().unwrap_err().to_string();
            assert!(error.starts_with("removal of the route to 10.0.0.9/32: "), "{error}");
            assert_eq!(Batch::remove_all_of(142).unwrap(), 2, "a route and a rule");
            assert_eq!(Batch::all_of(142).unwrap(), Present::default());
            assert_eq!(Batch::all_of(143).unwrap().routes.len(), 1, "of another owner");
        });
    }
}
