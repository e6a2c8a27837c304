// Saturated 802.11n or ac in ns-3.37: UDP from some stations to one, or over a chain; prints one JSON line.
//
// All stations are close enough to decode each other, so frames are lost only to collisions. Where ns-3's defaults differ from a station
// without EDCA, they are set: AIFS = DIFS (AIFSN 2), and after a missing block acknowledgement the data is sent again, no BlockAckReq.
// A station's short retry count, which IEEE 802.11-2020 (10.3.3) resets at every success, is not reset by block acknowledgements in
// ns-3.37: every 7th failure, consecutive or not, would give up a whole aggregate, send a BlockAckReq and reset the contention window.
// It therefore has no limit here; --ssrc=7 is ns-3's default.
//
//   wifi [--stations=1] [--older=0] [--hops=0] [--aside=0] [--standard=n|ac] [--mcs=7] [--streams=1] [--width=20] [--shortGuard=0] [--ampdu=65535]
//     [--spacing=10] [--channels=1] [--categories=] [--errors=TableBased] [--rts=0] [--ssrc=1000000] [--payload=1472] [--interval=0.0001] [--seed=1] [--duration=12] [--warmup=2]
//
//   --hops=0   that many stations on a circle of 1 m send to one in its middle
//   --hops=N   one flow over N hops of --spacing metres, in a line but for --aside, which take --channels in turn
//   --categories=vo,be   EDCA with AIFSN, windows and no TXOP for the first station, the second, and again from the first on; without it
//     all stations have AIFSN 2

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/traffic-control-module.h"
#include "ns3/wifi-module.h"

#include <cmath>
#include <iostream>
#include <sstream>

using namespace ns3;

// PSDUs sent after the warm-up: data and BlockAck, and the MPDUs of the former.
static bool counting = false;
static uint64_t dataSent = 0, blockAcksSent = 0, mpdusSent = 0;

static void
Sent(WifiConstPsduMap psdus, WifiTxVector, double)
{
    for (const auto& [station, psdu] : psdus)
    {
        const auto& header = psdu->GetHeader(0);
        dataSent += counting && header.IsQosData();
        mpdusSent += counting && header.IsQosData() ? psdu->GetNMpdus() : 0;
        blockAcksSent += counting && (header.IsBlockAck() || header.IsAck());
    }
}

static uint64_t mpdusHeard = 0;

static void
Heard(Ptr<const Packet> packet, uint16_t, WifiTxVector, MpduInfo, SignalNoiseDbm, uint16_t)
{
    mpdusHeard += counting && packet->GetSize() > 1000;
}

int
main(int argc, char* argv[])
{
    uint32_t stations = 1, older = 0, hops = 0, mcs = 7, streams = 1, width = 20, ampdu = 65535, payload = 1472, seed = 1;
    uint32_t ssrc = 1000000;
    bool shortGuard = false, rts = false;
    uint32_t channels = 1;
    double duration = 12, warmup = 2, interval = 1e-4, aside = 0, spacing = 10;
    std::string standard = "n", categories, errors = "TableBased";
    CommandLine cmd;
    cmd.AddValue("stations", "senders", stations);
    cmd.AddValue("older", "number of stations, the last ones, that have 802.11a at 54 Mbit/s", older);
    cmd.AddValue("hops", "hops of a chain; 0: one cell", hops);
    cmd.AddValue("aside", "metres by which every second node of a chain is off the line", aside);
    cmd.AddValue("spacing", "metres of a hop", spacing);
    cmd.AddValue("channels", "channels that the hops of a chain take in turn", channels);
    cmd.AddValue("categories", "access categories of the stations, in turn: bk, be, vi, vo; none: no EDCA", categories);
    cmd.AddValue("errors", "error rates: TableBased, Nist or Yans", errors);
    cmd.AddValue("standard", "n or ac", standard);
    cmd.AddValue("mcs", "MCS within a stream", mcs);
    cmd.AddValue("streams", "spatial streams", streams);
    cmd.AddValue("width", "MHz", width);
    cmd.AddValue("shortGuard", "guard interval of 400 ns", shortGuard);
    cmd.AddValue("ampdu", "maximum bytes of an A-MPDU; 0: no A-MPDUs", ampdu);
    cmd.AddValue("rts", "RTS before every frame", rts);
    cmd.AddValue("ssrc", "failures of a station before it gives up", ssrc);
    cmd.AddValue("payload", "bytes of a datagram", payload);
    cmd.AddValue("interval", "seconds from datagram to datagram of each sender", interval);
    cmd.AddValue("seed", "run", seed);
    cmd.AddValue("duration", "simulated seconds", duration);
    cmd.AddValue("warmup", "seconds not measured", warmup);
    cmd.Parse(argc, argv);
    RngSeedManager::SetSeed(1);
    RngSeedManager::SetRun(seed);

    Config::SetDefault("ns3::WifiRemoteStationManager::RtsCtsThreshold", UintegerValue(rts ? 0 : 4692480));
    Config::SetDefault("ns3::WifiRemoteStationManager::MaxSsrc", UintegerValue(ssrc));
    Config::SetDefault("ns3::QosTxop::UseExplicitBarAfterMissedBlockAck", BooleanValue(false));
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", QueueSizeValue(QueueSize("114p")));
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(1000)));

    const uint32_t count = hops > 0 ? hops + 1 : stations + 1;
    NodeContainer nodes;
    nodes.Create(count);
    auto places = CreateObject<ListPositionAllocator>();
    for (uint32_t n = 0; n < count; ++n)
    {
        double angle = 2 * M_PI * n / stations;
        places->Add(hops > 0 ? Vector(std::sqrt(spacing * spacing - aside * aside) * n, n % 2 * aside, 0) : n == 0 ? Vector(0, 0, 0) : Vector(std::cos(angle), std::sin(angle), 0));
    }
    MobilityHelper mobility;
    mobility.SetPositionAllocator(places);
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    mobility.Install(nodes);

    YansWifiChannelHelper air;
    air.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    air.AddPropagationLoss("ns3::LogDistancePropagationLossModel");
    YansWifiPhyHelper phy;
    std::vector<Ptr<YansWifiChannel>> airs;
    for (uint32_t c = 0; c < channels; ++c)
    {
        airs.push_back(air.Create());
    }
    phy.SetChannel(airs[0]);
    phy.SetErrorRateModel("ns3::" + errors + "ErrorRateModel");
    phy.Set("ChannelSettings", StringValue("{0, " + std::to_string(width) + ", BAND_5GHZ, 0}"));
    phy.Set("Antennas", UintegerValue(streams));
    phy.Set("MaxSupportedTxSpatialStreams", UintegerValue(streams));
    phy.Set("MaxSupportedRxSpatialStreams", UintegerValue(streams));
    WifiHelper wifi;
    const bool ac = standard == "ac";
    wifi.SetStandard(ac ? WIFI_STANDARD_80211ac : WIFI_STANDARD_80211n);
    const std::string mode =
        ac ? "VhtMcs" + std::to_string(mcs) : "HtMcs" + std::to_string(mcs + 8 * (streams - 1));
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode", StringValue(mode), "ControlMode",
                                 StringValue("OfdmRate6Mbps"));
    WifiMacHelper mac;
    mac.SetType("ns3::AdhocWifiMac", "QosSupported", BooleanValue(true), "BE_MaxAmpduSize", UintegerValue(ampdu),
                "BE_MaxAmsduSize", UintegerValue(0),
                "BK_MaxAmpduSize", UintegerValue(ampdu), "VI_MaxAmpduSize", UintegerValue(ampdu), "VO_MaxAmpduSize",
                UintegerValue(ampdu));
    NetDeviceContainer devices;
    for (uint32_t n = 0; n < count - older; ++n)
    {
        devices.Add(wifi.Install(phy, mac, nodes.Get(n)));
    }
    std::vector<NetDeviceContainer> others;
    for (uint32_t c = 1; c < channels; ++c)
    {
        phy.SetChannel(airs[c]);
        others.push_back(wifi.Install(phy, mac, nodes));
    }
    phy.SetChannel(airs[0]);
    WifiMacHelper dcf;
    dcf.SetType("ns3::AdhocWifiMac", "QosSupported", BooleanValue(false));
    WifiHelper legacy;
    legacy.SetStandard(WIFI_STANDARD_80211a);
    legacy.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode", StringValue("OfdmRate54Mbps"), "ControlMode",
                                   StringValue("OfdmRate6Mbps"));
    for (uint32_t n = count - older; n < count; ++n)
    {
        devices.Add(legacy.Install(phy, dcf, nodes.Get(n)));
    }
    const std::string device = "/NodeList/*/DeviceList/*/$ns3::WifiNetDevice/";
    if (categories.empty())
    {
        Config::Set(device + "Mac/BE_Txop/$ns3::QosTxop/Aifsn", UintegerValue(2));
    }
    for (const char* category : {"BK", "BE", "VI", "VO"})
    {
        Config::Set(device + "Mac/" + category + "_Txop/$ns3::QosTxop/TxopLimit", TimeValue(Seconds(0)));
    }
    Config::Set(device + "HtConfiguration/ShortGuardIntervalSupported", BooleanValue(shortGuard));

    InternetStackHelper internet;
    internet.Install(nodes);
    Ipv4AddressHelper addresses;
    addresses.SetBase("10.0.0.0", "255.255.255.0");
    auto interfaces = addresses.Assign(devices);
    TrafficControlHelper().Uninstall(devices);
    std::vector<Ipv4InterfaceContainer> on{interfaces};
    for (const auto& more : others)
    {
        addresses.NewNetwork();
        on.push_back(addresses.Assign(more));
        TrafficControlHelper().Uninstall(more);
    }
    if (older > 0)
    {
        // The rate manager would send answers to ARP by the MCS, which these stations do not know.
        NeighborCacheHelper().PopulateNeighborCache();
    }
    if (hops > 0)
    {
        Ipv4StaticRoutingHelper helper;
        for (uint32_t n = 0; n + 1 < hops; ++n)
        {
            auto routing = helper.GetStaticRouting(nodes.Get(n)->GetObject<Ipv4>());
            const uint32_t c = n % channels;
            routing->AddHostRouteTo(on[(hops - 1) % channels].GetAddress(hops), on[c].GetAddress(n + 1), 1 + c);
        }
    }

    const uint32_t sink = hops > 0 ? hops : 0;
    std::vector<uint8_t> services;
    std::istringstream words(categories);
    for (std::string word; std::getline(words, word, ',');)
    {
        // User priority 6, 5, 1 or 0 as a class selector, from which ns-3 derives the category.
        services.push_back((word == "vo" ? 6 : word == "vi" ? 5 : word == "bk" ? 1 : 0) << 5);
    }
    ApplicationContainer sinks;
    for (uint32_t n = hops > 0 ? 0 : 1; n < (hops > 0 ? 1 : count); ++n)
    {
        sinks.Add(UdpServerHelper(9 + n).Install(nodes.Get(sink)));
        const auto& last = hops > 0 ? on[(hops - 1) % channels] : interfaces;
        InetSocketAddress to(last.GetAddress(sink), 9 + n);
        to.SetTos(services.empty() ? 0 : services[(n - 1) % services.size()]);
        UdpClientHelper client(to);
        client.SetAttribute("MaxPackets", UintegerValue(4294967295u));
        client.SetAttribute("Interval", TimeValue(Seconds(interval)));
        client.SetAttribute("PacketSize", UintegerValue(payload));
        auto app = client.Install(nodes.Get(n));
        app.Start(Seconds(0.1 + 0.013 * n));
    }
    Config::ConnectWithoutContext(device + "Phy/PhyTxPsduBegin", MakeCallback(&Sent));
    Config::ConnectWithoutContext("/NodeList/0/DeviceList/*/$ns3::WifiNetDevice/Phy/MonitorSnifferRx", MakeCallback(&Heard));
    auto received = [&](uint32_t from, uint32_t to) {
        uint64_t sum = 0;
        for (uint32_t n = from; n < to; ++n)
        {
            sum += sinks.Get(n)->GetObject<UdpServer>()->GetReceived();
        }
        return sum;
    };
    const uint32_t newer = sinks.GetN() - older;
    uint64_t before[2] = {0, 0};
    std::vector<uint64_t> earlier;
    Simulator::Schedule(Seconds(warmup), [&] {
        for (uint32_t n = 0; n < sinks.GetN(); ++n)
        {
            earlier.push_back(received(n, n + 1));
        }
        before[0] = received(0, newer);
        before[1] = received(newer, sinks.GetN());
        counting = true;
    });
    Simulator::Stop(Seconds(duration));
    Simulator::Run();
    const double each = 8.0 * payload / (duration - warmup);
    const double olderBps = each * (received(newer, sinks.GetN()) - before[1]);
    std::ostringstream flows;
    for (uint32_t n = 0; n < sinks.GetN(); ++n)
    {
        flows << (n ? ", " : "") << std::fixed << each * (received(n, n + 1) - earlier[n]);
    }
    std::cout << std::fixed << "{\"flows_bps\": [" << flows.str() << "], \"goodput_bps\": " << each * (received(0, newer) - before[0]) + olderBps << ", \"older_bps\": " << olderBps << ", \"data_sent\": " << dataSent << ", \"mpdus_sent\": " << mpdusSent
              << ", \"mpdus_heard\": " << mpdusHeard << ", \"answers_sent\": " << blockAcksSent << "}" << std::endl;
    Simulator::Destroy();
    return 0;
}
