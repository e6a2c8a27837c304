// ns-3.37's real-time scheduler on the networks of `benches/emulation.py size`: how late its events are. Prints one line.
//
// A grid of 200 m, 802.11b at 2 Mbit/s with RTS, two-ray ground, AODV, ten NewReno flows. An event every millisecond compares
// the clock with the simulated time. Unlike taps.cc it uses no kernel devices: this is the scheduler before any packet leaves
// it.
//
//   realtime --rows=5 --columns=10 --seconds=15

#include "grid.h"

#include "ns3/aodv-module.h"
#include "ns3/applications-module.h"
#include "ns3/internet-module.h"

#include <sys/resource.h>

#include <algorithm>
#include <iostream>
#include <vector>

using namespace ns3;

namespace
{

std::vector<double> lateMicros;

void
Look()
{
    lateMicros.push_back(LateMicros());
    Simulator::Schedule(MilliSeconds(1), &Look);
}

} // namespace

int
main(int argc, char** argv)
{
    uint32_t rows = 5;
    uint32_t columns = 10;
    double seconds = 15;
    CommandLine line;
    line.AddValue("rows", "of the grid", rows);
    line.AddValue("columns", "of the grid", columns);
    line.AddValue("seconds", "of the run", seconds);
    line.Parse(argc, argv);
    ChooseRealTime();
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpNewReno::GetTypeId()));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));

    const uint32_t count = rows * columns;
    NodeContainer nodes;
    nodes.Create(count);
    NetDeviceContainer devices = Radios(nodes, columns);
    AodvHelper aodv;
    InternetStackHelper internet;
    internet.SetRoutingHelper(aodv);
    internet.Install(nodes);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.0.0");
    Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
    for (uint32_t n = 0; n < 10; ++n)
    {
        const uint32_t from = n * count / 10;
        const uint32_t to = (from + count / 3 + 1) % count;
        const uint16_t port = 5001 + n;
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
        sink.Install(nodes.Get(to));
        BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(interfaces.GetAddress(to), port));
        source.Install(nodes.Get(from));
    }
    Simulator::Schedule(MilliSeconds(1), &Look);
    Simulator::Stop(Seconds(seconds));
    Simulator::Run();
    rusage used;
    getrusage(RUSAGE_SELF, &used);
    const double cpu = used.ru_utime.tv_sec + used.ru_utime.tv_usec / 1e6 + used.ru_stime.tv_sec;
    std::sort(lateMicros.begin(), lateMicros.end());
    const auto at = [](double share) { return lateMicros[static_cast<size_t>(share * (lateMicros.size() - 1))]; };
    std::cout << "| " << count << " | " << static_cast<int>(100 * cpu / seconds) << "% | " << at(0.5) << " | " << at(0.99)
              << " | " << at(1) << " |" << std::endl;
    Simulator::Destroy();
    return 0;
}
