// ns-3.37's real-time scheduler with TapBridge: a chain whose nodes' kernels route, as in `fourhop emulate --tap`.
//
// Node n is bridged to the TAP device `nt<n>`, which must exist (taps.py creates it). From SIGUSR1 on, an event every millisecond
// compares the clock with the simulated time. After `seconds` of them, the program prints the share of a processor that it used and
// quantiles in microseconds, and continues. TapBridge starts a program that opens the devices: Debian's package `ns3` has it, but not
// under the path where the libraries look for it (see taps.py).
//
//   taps --nodes=10 --seconds=17

#include "grid.h"

#include "ns3/tap-bridge-module.h"

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
        lateMicros.push_back(LateMicros());
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
    ChooseRealTime();
    GlobalValue::Bind("ChecksumEnabled", BooleanValue(true));

    NodeContainer nodes;
    nodes.Create(count);
    NetDeviceContainer devices = Radios(nodes, count);
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
