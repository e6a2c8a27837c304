// A grid of radios in real time, for realtime.cc and taps.cc: 200 m apart, 802.11b at 2 Mbit/s with RTS, two-ray ground.
#pragma once

#include "ns3/core-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/realtime-simulator-impl.h"
#include "ns3/wifi-module.h"

// How far simulated time lags behind the clock now, in microseconds.
inline double
LateMicros()
{
    auto simulator = ns3::DynamicCast<ns3::RealtimeSimulatorImpl>(ns3::Simulator::GetImplementation());
    return (simulator->RealtimeNow() - ns3::Simulator::Now()).GetNanoSeconds() / 1e3;
}

// Chooses the real-time scheduler; call it before anything else.
inline void
ChooseRealTime()
{
    using namespace ns3;
    GlobalValue::Bind("SimulatorImplementationType", StringValue("ns3::RealtimeSimulatorImpl"));
    Config::SetDefault("ns3::WifiRemoteStationManager::RtsCtsThreshold", UintegerValue(0));
}

// Gives the nodes positions and radios.
inline ns3::NetDeviceContainer
Radios(const ns3::NodeContainer& nodes, uint32_t columns)
{
    using namespace ns3;
    YansWifiChannelHelper air;
    air.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    air.AddPropagationLoss("ns3::TwoRayGroundPropagationLossModel",
                           "Frequency", DoubleValue(914e6), "HeightAboveZ", DoubleValue(1.5));
    YansWifiPhyHelper phy;
    phy.SetChannel(air.Create());
    phy.Set("TxPowerStart", DoubleValue(24.5));
    phy.Set("TxPowerEnd", DoubleValue(24.5));
    phy.Set("RxSensitivity", DoubleValue(-78.1)); // 550 m, the carrier sense range
    WifiHelper wifi;
    wifi.SetStandard(WIFI_STANDARD_80211b);
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode", StringValue("DsssRate2Mbps"),
                                 "ControlMode", StringValue("DsssRate1Mbps"));
    WifiMacHelper mac;
    mac.SetType("ns3::AdhocWifiMac");
    MobilityHelper places;
    places.SetPositionAllocator("ns3::GridPositionAllocator", "DeltaX", DoubleValue(200), "DeltaY", DoubleValue(200),
                                "GridWidth", UintegerValue(columns));
    places.Install(nodes);
    return wifi.Install(phy, mac, nodes);
}
