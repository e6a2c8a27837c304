// One scenario of the plain format (rate, window, node, flow lines) in ns-3.37; prints one JSON line.
//
// The network is that of ns-2.35's papers as far as ns-3 has the means: 802.11b DSSS, RTS before every unicast frame,
// constant rate, two-ray ground at 914 MHz, queues of 50 packets without active queue management, NewReno with the
// classic recovery, an ACK for every segment, a limited window. The options add rules of ns-2 to ns-3 one by one, or
// remove something, to find what makes the two differ.
//
//   chain SCENARIO [--seed=1] [--duration=100] [--warmup=10]
//     --routing=aodv|static   static: fewest hops, computed once
//     --sense=250|550         RxSensitivity as a distance: ns-3 ignores weaker frames, which neither keep the medium
//                             busy nor interfere. With 550 a preamble needs the power of 250 m to be received.
//     --capture=0|1           1: overlapping frames need 10 dB (ns-2); 0: ns-3's DSSS error model, which decodes at
//                             -6 dB (1 Mbit/s) and +2 dB (2 Mbit/s)
//     --lock=0|1              1: a sensed but undecodable frame occupies the receiver (ns-2)
//     --rtsLimit=0|7          transmissions of an RTS; 0: ns-3's, which never end
//     --hello=0|1 --minRto=0.2 --sack=0|1
//     --arp=1|0               0: all addresses are known; AODV then learns of no lost link. ARP entries expire after
//                             120 s, so shorter runs resolve every address once.
//     --aodv=ns3|ns2          time-outs and search of ns-2's AODV instead of the defaults
//     --stats=0|1             counts of the MAC, AODV and TCP; costs time

#include "ns3/aodv-module.h"
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/traffic-control-module.h"
#include "ns3/wifi-module.h"

#include <sys/resource.h>

#include <chrono>
#include <cmath>
#include <deque>
#include <fstream>
#include <iostream>
#include <sstream>

using namespace ns3;

namespace
{

// Powers at the edges of reception and of carrier sense, ns-2's RXThresh_ and CSThresh_.
const double RX_THRESHOLD_W = 3.652e-10;
const double CS_THRESHOLD_W = 1.559e-11;
const double CAPTURE_RATIO = 10.0;
// Threshold of ns-3's ThresholdPreambleDetectionModel, 4 dB.
const double PREAMBLE_RATIO = std::pow(10.0, 0.4);
const uint32_t SEGMENT = 1460;

struct FlowLine
{
    uint32_t source, sink;
};

struct Scenario
{
    double rate = 2;
    uint32_t window = 64;
    std::vector<Vector> nodes;
    std::vector<FlowLine> flows;
};

Scenario
ReadScenario(const std::string& name)
{
    Scenario scenario;
    std::ifstream file(name);
    NS_ABORT_MSG_UNLESS(file, "cannot read " << name);
    std::string line;
    while (std::getline(file, line))
    {
        std::istringstream words(line.substr(0, line.find('#')));
        std::string kind;
        double x, y;
        FlowLine flow;
        if (!(words >> kind))
        {
            continue;
        }
        if (kind == "rate")
        {
            words >> scenario.rate;
        }
        else if (kind == "window")
        {
            words >> scenario.window;
        }
        else if (kind == "node" && words >> x >> y)
        {
            scenario.nodes.emplace_back(x, y, 0);
        }
        else if (kind == "flow" && words >> flow.source >> flow.sink)
        {
            scenario.flows.push_back(flow);
        }
        else
        {
            NS_ABORT_MSG("unknown statement: " << line);
        }
    }
    return scenario;
}

double
Dbm(double watt)
{
    return 10 * std::log10(watt) + 30;
}

// The reception rules of ns-2 that ns-3 can express: which frame a receiver synchronises on.
class Lock : public PreambleDetectionModel
{
  public:
    bool lockFar = false;
    bool needRatio = false;
    mutable bool decodable = true;

    bool IsPreambleDetected(double rssi, double snr, double) const override
    {
        bool strong = rssi >= RX_THRESHOLD_W;
        bool locks = lockFar ? rssi >= CS_THRESHOLD_W : strong;
        // snr holds what is on the air besides; for a frame that found the receiver free and still meets the energy
        // of others, ns-2's rule is the same ratio.
        bool clean = !needRatio || snr >= CAPTURE_RATIO;
        if (lockFar && locks)
        {
            decodable = strong && clean;
            return true;
        }
        decodable = true;
        return locks && clean && snr >= PREAMBLE_RATIO;
    }
};

// A later frame within the ratio destroys the one being received. The receiver stays with that frame, marked as lost:
// ns-3.37 cannot switch to the later one in the middle of a reception.
class Collide : public FrameCaptureModel
{
  public:
    Ptr<Lock> lock;

    bool CaptureNewFrame(Ptr<Event> current, Ptr<Event> later) const override
    {
        lock->decodable = lock->decodable && current->GetRxPowerW() >= CAPTURE_RATIO * later->GetRxPowerW();
        return false;
    }

    bool IsInCaptureWindow(Time) const override
    {
        return true;
    }
};

// Makes frames end in error if a collision destroyed them or they only occupied the receiver.
class LockedOut : public ErrorModel
{
  public:
    Ptr<Lock> lock;

  private:
    bool DoCorrupt(Ptr<Packet>) override
    {
        return !lock->decodable;
    }

    void DoReset() override
    {
    }
};

// Gives up a frame after `rtsLimit` RTS without a CTS. ns-3.37 decides by the retry count for the frame's length, which
// with RTS counts unanswered data, so it repeats an RTS for ever and MaxSsrc has no effect.
class LimitedRts : public ConstantRateWifiManager
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("LimitedRts")
                                .SetParent<ConstantRateWifiManager>()
                                .AddConstructor<LimitedRts>()
                                .AddAttribute("RtsLimit", "Transmissions of an RTS.", UintegerValue(7),
                                              MakeUintegerAccessor(&LimitedRts::m_limit),
                                              MakeUintegerChecker<uint32_t>());
        return tid;
    }

  private:
    void DoReportRtsFailed(WifiRemoteStation* station) override
    {
        ++m_failed[station->m_state->m_address];
    }

    void DoReportRtsOk(WifiRemoteStation* station, double, WifiMode, double) override
    {
        m_failed[station->m_state->m_address] = 0;
    }

    void DoReportFinalRtsFailed(WifiRemoteStation* station) override
    {
        m_failed[station->m_state->m_address] = 0;
    }

    bool DoNeedRetransmission(WifiRemoteStation* station, Ptr<const Packet>, bool normally) override
    {
        return normally && m_failed[station->m_state->m_address] < m_limit;
    }

    std::map<Mac48Address, uint32_t> m_failed;
    uint32_t m_limit;
};

NS_OBJECT_ENSURE_REGISTERED(LimitedRts);

// The counts of --stats.
struct Counts
{
    uint64_t frames = 0, receptions = 0, rtsFailed = 0, dataFailed = 0, macDrops = 0;
    uint64_t ownRreq = 0, rreq = 0, rrep = 0, rerr = 0, hello = 0;
    uint64_t timeouts = 0, fastRecoveries = 0, retransmitted = 0, noRoute = 0;
    SequenceNumber32 highest{0};
} counts;

void
PhyTx(Ptr<const Packet>, double)
{
    ++counts.frames;
}

void
PhyRxEnd(Ptr<const Packet>)
{
    ++counts.receptions;
}

void
PhyRxDrop(Ptr<const Packet>, WifiPhyRxfailureReason)
{
    ++counts.receptions;
}

void
RtsFailed(Mac48Address)
{
    ++counts.rtsFailed;
}

void
DataFailed(Mac48Address)
{
    ++counts.dataFailed;
}

void
MacDropped(WifiMacDropReason, Ptr<const WifiMpdu>)
{
    ++counts.macDrops;
}

void
IpDropped(const Ipv4Header&, Ptr<const Packet>, Ipv4L3Protocol::DropReason reason, Ptr<Ipv4>, uint32_t)
{
    counts.noRoute += reason == Ipv4L3Protocol::DROP_NO_ROUTE || reason == Ipv4L3Protocol::DROP_ROUTE_ERROR;
}

// AODV messages leave every hop as a new datagram: 8 bytes of UDP, 1 of type, then for a RREQ flags, reserved, hops.
void
SendOutgoing(const Ipv4Header& ip, Ptr<const Packet> packet, uint32_t)
{
    UdpHeader udp;
    if (ip.GetProtocol() != UdpL4Protocol::PROT_NUMBER || packet->PeekHeader(udp) == 0 ||
        udp.GetDestinationPort() != aodv::RoutingProtocol::AODV_PORT)
    {
        return;
    }
    uint8_t bytes[12] = {};
    packet->CopyData(bytes, sizeof(bytes));
    counts.rreq += bytes[8] == aodv::AODVTYPE_RREQ;
    counts.ownRreq += bytes[8] == aodv::AODVTYPE_RREQ && bytes[11] == 0;
    counts.rrep += bytes[8] == aodv::AODVTYPE_RREP && !ip.GetDestination().IsBroadcast();
    counts.hello += bytes[8] == aodv::AODVTYPE_RREP && ip.GetDestination().IsBroadcast();
    counts.rerr += bytes[8] == aodv::AODVTYPE_RERR;
}

void
CongestionState(TcpSocketState::TcpCongState_t, TcpSocketState::TcpCongState_t state)
{
    counts.timeouts += state == TcpSocketState::CA_LOSS;
    counts.fastRecoveries += state == TcpSocketState::CA_RECOVERY;
}

void
TcpTx(Ptr<const Packet> packet, const TcpHeader& header, Ptr<const TcpSocketBase>)
{
    if (packet->GetSize() == 0)
    {
        return;
    }
    if (header.GetSequenceNumber() < counts.highest)
    {
        ++counts.retransmitted;
    }
    else
    {
        counts.highest = header.GetSequenceNumber();
    }
}

void
WatchSocket(Ptr<BulkSendApplication> source)
{
    Ptr<Socket> socket = source->GetSocket();
    socket->TraceConnectWithoutContext("CongState", MakeCallback(&CongestionState));
    socket->TraceConnectWithoutContext("Tx", MakeCallback(&TcpTx));
}

void
Watch()
{
    const std::string device = "/NodeList/*/DeviceList/*/$ns3::WifiNetDevice/";
    const std::string station = device + "RemoteStationManager/";
    Config::ConnectWithoutContext(device + "Phy/PhyTxBegin", MakeCallback(&PhyTx));
    Config::ConnectWithoutContext(device + "Phy/PhyRxEnd", MakeCallback(&PhyRxEnd));
    Config::ConnectWithoutContext(device + "Phy/PhyRxDrop", MakeCallback(&PhyRxDrop));
    Config::ConnectWithoutContext(device + "Mac/DroppedMpdu", MakeCallback(&MacDropped));
    Config::ConnectWithoutContext(station + "MacTxRtsFailed", MakeCallback(&RtsFailed));
    Config::ConnectWithoutContext(station + "MacTxDataFailed", MakeCallback(&DataFailed));
    const std::string ip = "/NodeList/*/$ns3::Ipv4L3Protocol/";
    Config::ConnectWithoutContext(ip + "SendOutgoing", MakeCallback(&SendOutgoing));
    Config::ConnectWithoutContext(ip + "Drop", MakeCallback(&IpDropped));
}

// Next hops of shortest paths to every node that is an end of a flow.
void
StaticRoutes(const Scenario& scenario, const Ipv4InterfaceContainer& addresses, const NodeContainer& nodes)
{
    const double range = 250.0;
    const uint32_t count = nodes.GetN();
    std::vector<std::vector<uint32_t>> links(count);
    for (uint32_t a = 0; a < count; ++a)
    {
        for (uint32_t b = 0; b < count; ++b)
        {
            if (a != b && CalculateDistance(scenario.nodes[a], scenario.nodes[b]) <= range)
            {
                links[a].push_back(b);
            }
        }
    }
    std::set<uint32_t> ends;
    for (const auto& flow : scenario.flows)
    {
        ends.insert({flow.source, flow.sink});
    }
    Ipv4StaticRoutingHelper helper;
    for (uint32_t end : ends)
    {
        std::vector<bool> seen(count);
        std::deque<uint32_t> queue{end};
        seen[end] = true;
        while (!queue.empty())
        {
            uint32_t at = queue.front();
            queue.pop_front();
            for (uint32_t other : links[at])
            {
                if (!seen[other])
                {
                    seen[other] = true;
                    queue.push_back(other);
                    auto routing = helper.GetStaticRouting(nodes.Get(other)->GetObject<Ipv4>());
                    routing->AddHostRouteTo(addresses.GetAddress(end), addresses.GetAddress(at), 1);
                }
            }
        }
    }
}

} // namespace

int
main(int argc, char* argv[])
{
    std::string file;
    std::string routing = "aodv";
    std::string aodvDefaults = "ns3";
    double duration = 100;
    double warmup = -1;
    double minRto = 0.2;
    uint32_t seed = 1;
    uint32_t sense = 550;
    uint32_t rtsLimit = 0;
    bool capture = false;
    bool lock = false;
    bool hello = false;
    bool sack = false;
    bool arp = true;
    bool stats = false;
    CommandLine cmd;
    cmd.AddNonOption("scenario", "scenario file", file);
    cmd.AddValue("seed", "seed", seed);
    cmd.AddValue("duration", "simulated seconds", duration);
    cmd.AddValue("warmup", "seconds not measured; -1: a tenth", warmup);
    cmd.AddValue("routing", "aodv or static", routing);
    cmd.AddValue("sense", "range of RxSensitivity in metres, 250 or 550", sense);
    cmd.AddValue("capture", "overlapping frames need 10 dB", capture);
    cmd.AddValue("lock", "undecodable frames occupy the receiver", lock);
    cmd.AddValue("rtsLimit", "transmissions of an RTS; 0: no limit, as in ns-3", rtsLimit);
    cmd.AddValue("hello", "AODV HELLO messages", hello);
    cmd.AddValue("aodv", "ns3: its defaults; ns2: those of ns-2", aodvDefaults);
    cmd.AddValue("minRto", "minimum retransmission time-out in seconds", minRto);
    cmd.AddValue("sack", "selective acknowledgements", sack);
    cmd.AddValue("arp", "ARP; else all addresses are known", arp);
    cmd.AddValue("stats", "count MAC, AODV and TCP events", stats);
    cmd.Parse(argc, argv);
    if (warmup < 0)
    {
        warmup = duration / 10;
    }
    Scenario scenario = ReadScenario(file);
    RngSeedManager::SetSeed(1);
    RngSeedManager::SetRun(seed);

    // TCP. The window is limited by the send buffer: ns-3.37 crashes (TcpRateLinux::SkbSent) when a receive buffer of
    // this size fills up with segments out of order.
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpNewReno"));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", StringValue("ns3::TcpClassicRecovery"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(SEGMENT));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(scenario.window * SEGMENT));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1 << 20));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(sack));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(Seconds(minRto)));

    // MAC.
    Config::SetDefault("ns3::WifiRemoteStationManager::RtsCtsThreshold", UintegerValue(0));
    Config::SetDefault("ns3::WifiRemoteStationManager::MaxSlrc", UintegerValue(4));
    Config::SetDefault("ns3::WifiRemoteStationManager::NonUnicastMode", StringValue("DsssRate1Mbps"));
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", QueueSizeValue(QueueSize("50p")));
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(1000)));

    NodeContainer nodes;
    nodes.Create(scenario.nodes.size());
    MobilityHelper mobility;
    auto positions = CreateObject<ListPositionAllocator>();
    for (const auto& at : scenario.nodes)
    {
        positions->Add(at);
    }
    mobility.SetPositionAllocator(positions);
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    mobility.Install(nodes);

    YansWifiChannelHelper air;
    air.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    air.AddPropagationLoss("ns3::TwoRayGroundPropagationLossModel",
                           "Frequency", DoubleValue(914e6), "HeightAboveZ", DoubleValue(1.5), "SystemLoss", DoubleValue(1));
    YansWifiPhyHelper phy;
    phy.SetChannel(air.Create());
    phy.Set("TxPowerStart", DoubleValue(Dbm(0.28183815)));
    phy.Set("TxPowerEnd", DoubleValue(Dbm(0.28183815)));
    // The sensitivity is per 20 MHz, an 802.11b channel has 22.
    const double per20MHz = 10 * std::log10(20.0 / 22.0);
    phy.Set("RxSensitivity", DoubleValue(Dbm(sense == 250 ? RX_THRESHOLD_W : CS_THRESHOLD_W) + per20MHz));
    phy.Set("CcaEdThreshold", DoubleValue(Dbm(CS_THRESHOLD_W)));
    WifiHelper wifi;
    wifi.SetStandard(WIFI_STANDARD_80211b);
    std::ostringstream mode;
    mode << "DsssRate" << (scenario.rate == 5.5 ? "5_5" : std::to_string(int(scenario.rate))) << "Mbps";
    if (rtsLimit == 0)
    {
        wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode", StringValue(mode.str()),
                                     "ControlMode", StringValue("DsssRate1Mbps"));
    }
    else
    {
        wifi.SetRemoteStationManager("LimitedRts", "DataMode", StringValue(mode.str()), "ControlMode",
                                     StringValue("DsssRate1Mbps"), "RtsLimit", UintegerValue(rtsLimit));
    }
    WifiMacHelper mac;
    mac.SetType("ns3::AdhocWifiMac", "QosSupported", BooleanValue(false));
    NetDeviceContainer devices = wifi.Install(phy, mac, nodes);
    for (uint32_t i = 0; i < devices.GetN(); ++i)
    {
        auto radio = DynamicCast<WifiNetDevice>(devices.Get(i))->GetPhy();
        auto model = CreateObject<Lock>();
        model->lockFar = lock;
        model->needRatio = capture;
        radio->SetPreambleDetectionModel(model);
        auto out = CreateObject<LockedOut>();
        out->lock = model;
        radio->SetPostReceptionErrorModel(out);
        if (capture)
        {
            auto collide = CreateObject<Collide>();
            collide->lock = model;
            radio->SetFrameCaptureModel(collide);
        }
    }

    InternetStackHelper internet;
    AodvHelper aodv;
    aodv.Set("EnableHello", BooleanValue(hello));
    if (aodvDefaults == "ns2")
    {
        aodv.Set("ActiveRouteTimeout", TimeValue(Seconds(10)));
        aodv.Set("MyRouteTimeout", TimeValue(Seconds(10)));
        aodv.Set("NetDiameter", UintegerValue(30));
        aodv.Set("NodeTraversalTime", TimeValue(MilliSeconds(30)));
        aodv.Set("RreqRetries", UintegerValue(3));
        aodv.Set("RreqRateLimit", UintegerValue(1000));
        aodv.Set("RerrRateLimit", UintegerValue(1000));
        aodv.Set("TtlStart", UintegerValue(30));
        aodv.Set("BlackListTimeout", TimeValue(Seconds(0)));
    }
    if (routing == "aodv")
    {
        internet.SetRoutingHelper(aodv);
    }
    internet.Install(nodes);
    Ipv4AddressHelper ipv4;
    ipv4.SetBase("10.0.0.0", "255.255.0.0");
    Ipv4InterfaceContainer addresses = ipv4.Assign(devices);
    // Assigning addresses has put FqCoDel in front of the devices.
    TrafficControlHelper().Uninstall(devices);
    if (!arp)
    {
        NeighborCacheHelper().PopulateNeighborCache(devices);
    }
    if (routing == "static")
    {
        StaticRoutes(scenario, addresses, nodes);
    }

    std::vector<Ptr<PacketSink>> sinks;
    std::vector<uint64_t> before;
    for (uint32_t i = 0; i < scenario.flows.size(); ++i)
    {
        const auto& flow = scenario.flows[i];
        InetSocketAddress to(addresses.GetAddress(flow.sink), 5001 + i);
        BulkSendHelper source("ns3::TcpSocketFactory", to);
        auto app = source.Install(nodes.Get(flow.source));
        app.Start(Seconds(1.0 + 0.1 * i));
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 5001 + i));
        auto sinkApp = sink.Install(nodes.Get(flow.sink));
        sinkApp.Start(Seconds(0));
        sinks.push_back(DynamicCast<PacketSink>(sinkApp.Get(0)));
        if (stats)
        {
            Simulator::Schedule(Seconds(1.001 + 0.1 * i), &WatchSocket, DynamicCast<BulkSendApplication>(app.Get(0)));
        }
    }
    Simulator::Schedule(Seconds(warmup), [&] {
        for (const auto& sink : sinks)
        {
            before.push_back(sink->GetTotalRx());
        }
    });
    if (stats)
    {
        Watch();
    }

    Simulator::Stop(Seconds(duration));
    auto start = std::chrono::steady_clock::now();
    Simulator::Run();
    std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;

    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    std::cout << "{\"seed\": " << seed << ", \"simulated_s\": " << duration << ", \"wall_s\": " << wall.count()
              << ", \"user_s\": " << usage.ru_utime.tv_sec + usage.ru_utime.tv_usec * 1e-6
              << ", \"peak_kib\": " << usage.ru_maxrss << ", \"events\": " << Simulator::GetEventCount()
              << ", \"goodput_kbps\": [";
    for (uint32_t i = 0; i < sinks.size(); ++i)
    {
        double bits = (sinks[i]->GetTotalRx() - before[i]) * 8.0;
        std::cout << (i ? ", " : "") << bits / 1000 / (duration - warmup);
    }
    std::cout << "]";
    if (stats)
    {
        std::cout << ", \"frames\": " << counts.frames << ", \"receptions\": " << counts.receptions
                  << ", \"rts_failed\": " << counts.rtsFailed << ", \"data_failed\": " << counts.dataFailed
                  << ", \"mac_drops\": " << counts.macDrops << ", \"own_rreq\": " << counts.ownRreq
                  << ", \"rreq\": " << counts.rreq << ", \"rrep\": " << counts.rrep << ", \"rerr\": " << counts.rerr
                  << ", \"hello\": " << counts.hello << ", \"timeouts\": " << counts.timeouts
                  << ", \"fast_recoveries\": " << counts.fastRecoveries
                  << ", \"retransmitted\": " << counts.retransmitted << ", \"no_route\": " << counts.noRoute;
    }
    std::cout << "}" << std::endl;
    Simulator::Destroy();
    return 0;
}
