// ns-3.37's real-time scheduler with TapBridge: a chain whose nodes' kernels route, as `fourhop emulate --tap` has it.
//
// 802.11b at 2 Mbit/s with RTS, two-ray ground, 200 m apart. Node n is bridged to the TAP device `nt<n>`, which must be there
// (taps.py makes it). From SIGUSR1 on an event every millisecond compares the clock with the simulated time; after `seconds` of
// them the program prints the share of a processor it took and quantiles in microseconds, and goes on. TapBridge starts a program that opens the devices: Debian's package `ns3` has it, under another
// path than the libraries look for (taps.py says which).
//
//   taps --nodes=10 --seconds=17

#include "ns3/core-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/realtime-simulator-impl.h"
#include "ns3/tap-bridge-module.h"
#include "ns3/wifi-module.h"

#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <iostream>
#include <vector>

using namespace ns3;

namespace
{

std::vector<double> lateMicros;
volatile std::sig_atomic_t measuring = 0;
double cpuBefore = 0;
size_t wanted = 17000;

double
Cpu()
{
    rusage used;
    getrusage(RUSAGE_SELF, &used);
    return used.ru_utime.tv_sec + used.ru_stime.tv_sec + (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

void
Say()
{
    const double cpu = (Cpu() - cpuBefore) / (lateMicros.size() / 1e3);
    std::sort(lateMicros.begin(), lateMicros.end());
    const auto at = [](double share) { return lateMicros[static_cast<size_t>(share * (lateMicros.size() - 1))]; };
    std::cout << cpu << " " << at(0.5) << " " << at(0.99) << " " << at(1) << std::endl;
}

void
Look()
{
    if (measuring)
    {
        cpuBefore = lateMicros.empty() ? Cpu() : cpuBefore;
        auto simulator = DynamicCast<RealtimeSimulatorImpl>(Simulator::GetImplementation());
        lateMicros.push_back((simulator->RealtimeNow() - Simulator::Now()).GetNanoSeconds() / 1e3);
    }
    if (lateMicros.size() == wanted)
    {
        return Say();
    }
    Simulator::Schedule(MilliSeconds(1), &Look);
}

} // namespace

int
main(int argc, char** argv)
{
    uint32_t count = 10;
    double seconds = 17;
    CommandLine line;
    line.AddValue("nodes", "of the chain", count);
    line.AddValue("seconds", "that are measured", seconds);
    line.Parse(argc, argv);
    wanted = static_cast<size_t>(seconds * 1000);
    std::signal(SIGUSR1, [](int) { measuring = 1; });
    GlobalValue::Bind("SimulatorImplementationType", StringValue("ns3::RealtimeSimulatorImpl"));
    GlobalValue::Bind("ChecksumEnabled", BooleanValue(true));
    Config::SetDefault("ns3::WifiRemoteStationManager::RtsCtsThreshold", UintegerValue(0));

    NodeContainer nodes;
    nodes.Create(count);
    YansWifiChannelHelper air;
    air.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    air.AddPropagationLoss("ns3::TwoRayGroundPropagationLossModel",
                           "Frequency", DoubleValue(914e6), "HeightAboveZ", DoubleValue(1.5));
    YansWifiPhyHelper phy;
    phy.SetChannel(air.Create());
    phy.Set("TxPowerStart", DoubleValue(24.5));
    phy.Set("TxPowerEnd", DoubleValue(24.5));
    phy.Set("RxSensitivity", DoubleValue(-78.1)); // 550 m, what carrier sense hears
    WifiHelper wifi;
    wifi.SetStandard(WIFI_STANDARD_80211b);
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode", StringValue("DsssRate2Mbps"),
                                 "ControlMode", StringValue("DsssRate1Mbps"));
    WifiMacHelper mac;
    mac.SetType("ns3::AdhocWifiMac");
    NetDeviceContainer devices = wifi.Install(phy, mac, nodes);
    MobilityHelper places;
    places.SetPositionAllocator("ns3::GridPositionAllocator", "DeltaX", DoubleValue(200), "GridWidth", UintegerValue(count));
    places.Install(nodes);
    TapBridgeHelper bridge;
    bridge.SetAttribute("Mode", StringValue("UseLocal"));
    for (uint32_t n = 0; n < count; ++n)
    {
        bridge.SetAttribute("DeviceName", StringValue("nt" + std::to_string(n)));
        bridge.Install(nodes.Get(n), devices.Get(n));
    }
    Simulator::Schedule(MilliSeconds(1), [] { std::cout << "ready" << std::endl; });
    Simulator::Schedule(MilliSeconds(1), &Look);
    Simulator::Run();
    return 0;
}
