#!/bin/sh
# What a gateway changes: loads data to several nodes at once, pings meanwhile, and prints goodputs, Jain's index and delays.
#
#     before_after.sh NODE...                   # on a host behind the gateway
#     SECONDS_LONG=60 CONTROL=bbr before_after.sh NODE...
#
# Each node runs `iperf3 -s`. Run it before the gateway is started and again afterwards. Needs iperf3, ping, awk and jq.
set -eu
[ $# -gt 0 ] || { sed -n '2,8p' "$0"; exit 2; }
long=${SECONDS_LONG:-30}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

for node; do
  ping -n -q -c 10 -i 0.3 "$node" >"$folder/idle-$node" || true
done
for node; do
  iperf3 -J -c "$node" -t "$long" ${CONTROL:+-C "$CONTROL"} >"$folder/iperf-$node" &
done
sleep 3
for node; do
  ping -n -c $(((long - 5) * 4)) -i 0.25 -W 10 "$node" >"$folder/ping-$node" &
done
wait

printf '%-20s %10s %8s %9s %9s %9s\n' node kbit/s again idle-ms p50-ms p99-ms
for node; do
  rate=$(jq '.end.sum_received.bits_per_second / 1000' "$folder/iperf-$node")
  again=$(jq '.end.sum_sent.retransmits // 0' "$folder/iperf-$node")
  idle=$(awk -F/ '/^(rtt|round-trip)/ {print $5}' "$folder/idle-$node")
  sed -n 's/.*time=\([0-9.]*\).*/\1/p' "$folder/ping-$node" | sort -n >"$folder/times"
  count=$(wc -l <"$folder/times")
  at() { sed -n "$((count * $1 / 100 + 1))p" "$folder/times"; }
  printf '%-20s %10.1f %8s %9s %9s %9s\n' "$node" "$rate" "$again" "${idle:--}" "$(at 50)" "$(at 99)"
  echo "$rate" >>"$folder/rates"
done
awk '{s += $1; q += $1 * $1} END {printf "together %.1f kbit/s, Jain'"'"'s index %.3f\n", s, s * s / (NR * q)}' "$folder/rates"
