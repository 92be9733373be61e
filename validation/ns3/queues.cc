/*
 * Queue discs of ns-3 3.37 by themselves: packets of several flows of constant
 * rate arrive at instants that are known beforehand, and a server takes them out
 * at a rate. There is no network around the disc, so that another implementation
 * can be given the same arrivals, and each of its decisions compared.
 *
 *   ./queues --disc=FqCoDel --rate=10Mbps --from=5s --time=20s --seed=1 \
 *            --flows="0,1472,12500000;100000,172,68800"
 *
 * A flow is start (ns), octets of payload, and bits of payload a second; 28
 * octets of UDP and IPv4 are added. A packet arrives whenever the payload before
 * it has been sent at the flow's rate. Prints, for each flow, how many packets
 * arrived, were dropped, and left, and the mean time from arrival to the end of
 * transmission.
 *
 * What the disc is set to, which is what acklab's disciplines do by default:
 *
 *   CoDel, FqCoDel   5 ms and 100 ms, no ECN; FqCoDel: quantum 1514
 *   Pie              15 ms, update 15 ms, burst 150 ms, timestamps instead of a
 *                    departure rate, derandomization, capped adjustment
 *   FqCobalt         COBALT by flows as in CAKE: 5 ms and 100 ms, sets of eight.
 *                    In ns-3 BLUE also acts on a delay above 400 ms; in Linux's
 *                    sch_cake.c only where a queue overflows, and so here
 */

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/traffic-control-module.h"

#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

constexpr char kUnlimited[] = "1000000p"; // a queue that is never full
constexpr uint32_t kQuantum = 1514;

struct Flow
{
    int64_t start;
    uint32_t payload;
    uint64_t rate;
    uint64_t sent = 0; // from the beginning
    uint64_t arrived = 0, dropped = 0, left = 0;
    double delay = 0; // of those that left, in ns
};

/** Arrivals, the disc, and the server behind it. */
class Bench
{
  public:
    Bench(Ptr<QueueDisc> disc, DataRate rate, Time from, Time end, std::vector<Flow> flows)
        : m_disc(disc),
          m_rate(rate),
          m_from(from),
          m_end(end),
          m_flows(std::move(flows))
    {
        bool found =
            disc->TraceConnectWithoutContext("Drop", MakeCallback(&Bench::OnDrop, this));
        NS_ABORT_MSG_UNLESS(found, "no trace source Drop");
        for (uint32_t index = 0; index < m_flows.size(); ++index)
        {
            Simulator::Schedule(NanoSeconds(m_flows[index].start), &Bench::Arrive, this, index);
        }
    }

    void Print() const
    {
        std::printf("[");
        for (size_t index = 0; index < m_flows.size(); ++index)
        {
            const Flow& flow = m_flows[index];
            std::printf("%s\n  {\"arrived\": %lu, \"dropped\": %lu, \"left\": %lu, \"delay_ms\": %.6f}",
                        index ? "," : "",
                        static_cast<unsigned long>(flow.arrived),
                        static_cast<unsigned long>(flow.dropped),
                        static_cast<unsigned long>(flow.left),
                        flow.left ? flow.delay / flow.left / 1e6 : 0.0);
        }
        std::printf("\n]\n");
    }

  private:
    static uint32_t IndexOf(Ptr<const QueueDiscItem> item)
    {
        UdpHeader header;
        item->GetPacket()->PeekHeader(header);
        return header.GetSourcePort() - 1;
    }

    bool IsMeasured() const
    {
        return Simulator::Now() >= m_from;
    }

    void Arrive(uint32_t index)
    {
        Flow& flow = m_flows[index];
        ++flow.sent;
        flow.arrived += IsMeasured();
        Ptr<Packet> packet = Create<Packet>(flow.payload);
        UdpHeader udp;
        udp.SetSourcePort(index + 1);
        udp.SetDestinationPort(9);
        packet->AddHeader(udp);
        Ipv4Header ip;
        ip.SetSource(Ipv4Address("10.0.0.1"));
        ip.SetDestination(Ipv4Address("10.0.0.2"));
        ip.SetProtocol(17);
        ip.SetPayloadSize(packet->GetSize());
        m_disc->Enqueue(Create<Ipv4QueueDiscItem>(packet, Address(), 0x0800, ip));
        Serve();
        // Without drift: from the number of the packet.
        auto next = static_cast<__int128>(flow.sent) * flow.payload * 8 * 1000000000 / flow.rate;
        Time at = NanoSeconds(flow.start + static_cast<int64_t>(next));
        if (at < m_end)
        {
            Simulator::Schedule(at - Simulator::Now(), &Bench::Arrive, this, index);
        }
    }

    void Serve()
    {
        if (m_busy)
        {
            return;
        }
        Ptr<QueueDiscItem> item = m_disc->Dequeue();
        if (!item)
        {
            return;
        }
        m_busy = true;
        Time done = m_rate.CalculateBytesTxTime(item->GetSize());
        Simulator::Schedule(done, &Bench::Sent, this, item);
    }

    void Sent(Ptr<QueueDiscItem> item)
    {
        Flow& flow = m_flows[IndexOf(item)];
        if (IsMeasured())
        {
            ++flow.left;
            flow.delay += (Simulator::Now() - item->GetTimeStamp()).GetNanoSeconds();
        }
        m_busy = false;
        Serve();
    }

    void OnDrop(Ptr<const QueueDiscItem> item)
    {
        m_flows[IndexOf(item)].dropped += IsMeasured();
    }

    Ptr<QueueDisc> m_disc;
    DataRate m_rate;
    Time m_from, m_end;
    std::vector<Flow> m_flows;
    bool m_busy = false;
};

std::vector<Flow>
ParseFlows(const std::string& text)
{
    std::vector<Flow> flows;
    std::stringstream all(text);
    for (std::string one; std::getline(all, one, ';');)
    {
        Flow flow{};
        unsigned long rate = 0;
        long start = 0;
        NS_ABORT_MSG_IF(std::sscanf(one.c_str(), "%ld,%u,%lu", &start, &flow.payload, &rate) != 3,
                        "flow " << one << ", expected START,PAYLOAD,RATE");
        flow.start = start;
        flow.rate = rate;
        flows.push_back(flow);
    }
    return flows;
}

Ptr<QueueDisc>
Disc(const std::string& name, uint32_t seed)
{
    const QueueSizeValue unlimited{QueueSize(kUnlimited)};
    if (name == "CoDel")
    {
        return CreateObjectWithAttributes<CoDelQueueDisc>("MaxSize", unlimited);
    }
    if (name == "Pie")
    {
        auto disc = CreateObjectWithAttributes<PieQueueDisc>(
            "MaxSize", unlimited,
            "QueueDelayReference", TimeValue(MilliSeconds(15)),
            "Tupdate", TimeValue(MilliSeconds(15)),
            "MaxBurstAllowance", TimeValue(MilliSeconds(150)),
            "UseDequeueRateEstimator", BooleanValue(false),
            "UseCapDropAdjustment", BooleanValue(true),
            "UseDerandomization", BooleanValue(true));
        disc->AssignStreams(seed);
        return disc;
    }
    if (name == "FqCoDel")
    {
        auto disc = CreateObjectWithAttributes<FqCoDelQueueDisc>(
            "MaxSize", unlimited,
            "UseEcn", BooleanValue(false),
            "Perturbation", UintegerValue(seed));
        disc->SetQuantum(kQuantum);
        return disc;
    }
    if (name == "FqCobalt")
    {
        auto disc = CreateObjectWithAttributes<FqCobaltQueueDisc>(
            "MaxSize", unlimited,
            "UseEcn", BooleanValue(false),
            "EnableSetAssociativeHash", BooleanValue(true),
            "BlueThreshold", TimeValue(Time::Max()),
            "Perturbation", UintegerValue(seed));
        disc->SetQuantum(kQuantum);
        return disc;
    }
    NS_ABORT_MSG("disc " << name << ", expected CoDel, FqCoDel, Pie or FqCobalt");
}

} // namespace

int
main(int argc, char** argv)
{
    std::string name = "CoDel", flows = "0,1472,12500000";
    DataRate rate("10Mbps");
    Time from = Seconds(0), end = Seconds(20);
    uint32_t seed = 1;
    CommandLine cmd(__FILE__);
    cmd.AddValue("disc", "CoDel, FqCoDel, Pie or FqCobalt", name);
    cmd.AddValue("rate", "rate of the server", rate);
    cmd.AddValue("from", "what happens before is not counted", from);
    cmd.AddValue("time", "no packet arrives from then on", end);
    cmd.AddValue("seed", "stream of random numbers, and of hashes", seed);
    cmd.AddValue("flows", "START,PAYLOAD,RATE;…", flows);
    cmd.Parse(argc, argv);
    RngSeedManager::SetRun(seed);
    Ptr<QueueDisc> disc = Disc(name, seed);
    disc->Initialize();
    Bench bench(disc, rate, from, end, ParseFlows(flows));
    Simulator::Stop(end);
    Simulator::Run();
    bench.Print();
    Simulator::Destroy();
    return 0;
}
