"""Measures the kernel's time for an aggregate of TCP segments from a TUN device, written one by one and joined.

    sudo unshare --net .venv/bin/python benches/joined.py

The script's own sender talks to a listener of the kernel through the device. Joined segments are one packet with a
virtio header (IFF_VNET_HDR), at most 44 per write.
"""

import contextlib
import fcntl
import os
import socket
import statistics
import struct
import subprocess
import time

ROUNDS = 300
MSS = 1448
MOST = 44
TUN_FLAGS = 0x0001 | 0x1000 | 0x4000
"""IFF_TUN, IFF_NO_PI, IFF_VNET_HDR of linux/if_tun.h."""
TUNSETIFF = 0x400454CA
HERE, THERE = "10.5.0.1", "10.5.0.2"
SYN, ACK, PSH = 2, 16, 8


def total(data: bytes) -> int:
    """The sum for the checksum (RFC 1071)."""
    data += bytes(len(data) % 2)
    value: int = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while value >> 16:
        value = (value & 0xFFFF) + (value >> 16)
    return value


def segment(seq: int, ack: int, flags: int, payload: bytes = b"") -> bytes:
    """A packet with virtio, IP and TCP headers. More than one MSS is several segments that the kernel treats as one."""
    joined = len(payload) > MSS
    options = b"\2\4\5\xb4\3\3\7\1" if flags & SYN else b"\1\1\x08\x0a" + struct.pack("!II", 1, 0)
    length = 20 + len(options)
    tcp = struct.pack("!HHIIBBHHH", 4000, 5000, seq, ack, length << 2, flags, 65535, 0, 0) + options
    ends = socket.inet_aton(THERE) + socket.inet_aton(HERE)
    pseudo = ends + struct.pack("!BBH", 0, socket.IPPROTO_TCP, length + len(payload))
    # The kernel completes the checksum of a joined packet.
    checksum = total(pseudo) if joined else total(pseudo + tcp + payload) ^ 0xFFFF
    tcp = tcp[:16] + struct.pack("!H", checksum) + tcp[18:]
    ip = struct.pack("!BBHHHBBH", 0x45, 0, 20 + length + len(payload), 1, 0, 64, socket.IPPROTO_TCP, 0) + ends
    ip = ip[:10] + struct.pack("!H", total(ip) ^ 0xFFFF) + ip[12:]
    virtio = struct.pack("<BBHHHH", 1, 1, 20 + length, MSS, 20, 16) if joined else bytes(10)
    return virtio + ip + tcp + payload


def drained(fd: int) -> int:
    """Read all packets sent by the kernel, and return their number."""
    count = 0
    with contextlib.suppress(BlockingIOError):
        while os.read(fd, 70_000):
            count += 1
    return count


def measure(fd: int, server: socket.socket, segments: int, together: int) -> str:
    """Writes an aggregate repeatedly, with `together` segments per write."""
    seq = 1000
    os.write(fd, segment(seq, 0, SYN))
    while (got := os.read(fd, 70_000)[10:])[9] != socket.IPPROTO_TCP:
        pass
    seq, ack = seq + 1, struct.unpack("!I", got[24:28])[0] + 1
    os.write(fd, segment(seq, ack, ACK))
    connection, _ = server.accept()
    times, acknowledgements, arrived = [], 0, 0
    with connection:
        connection.setblocking(False)
        os.set_blocking(fd, False)
        for _ in range(ROUNDS):
            parts = [min(together, segments - n) for n in range(0, segments, together)]
            writes = []
            for part in parts:
                writes.append(segment(seq, ack, ACK | PSH, bytes(part * MSS)))
                seq += part * MSS
            begun = time.perf_counter_ns()
            for packet in writes:
                os.write(fd, packet)
            times.append((time.perf_counter_ns() - begun) / 1e3)
            time.sleep(0.002)
            with contextlib.suppress(BlockingIOError):
                while got := connection.recv(1 << 20):
                    arrived += len(got)
            acknowledgements += drained(fd)
        # The next connection uses the same ports.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    time.sleep(0.1)
    drained(fd)
    os.set_blocking(fd, True)
    assert arrived == ROUNDS * segments * MSS, (arrived, segments)
    late = statistics.quantiles(times, n=100)
    return (
        f"{segments:3} segments, {together:2} in a write: p50 {late[49]:4.0f} us, p99 {late[98]:4.0f} us, "
        f"{acknowledgements / ROUNDS:.1f} acknowledgements"
    )


def main() -> None:
    fd = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH22x", b"joined0", TUN_FLAGS))
    for words in (f"address add {HERE}/24 dev joined0", "link set joined0 up"):
        subprocess.run(["ip", *words.split()], check=True)
    with socket.create_server((HERE, 5000)) as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24)
        for segments in (4, 16, 64):
            for together in (1, MOST):
                print(measure(fd, server, segments, together), flush=True)


if __name__ == "__main__":
    main()
