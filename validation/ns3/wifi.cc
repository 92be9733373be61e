/*
 * One Wi-Fi cell in ns-3 3.37: a server on a wired link, an access point and
 * stations, every one of them with one flow. It is the second opinion against
 * which the Wi-Fi scenarios of this repository are read; it is not the truth.
 *
 *   server ==wired== AP ))) station 1 ... station n
 *
 * The choices made here, and why:
 *
 *  - All stations hear all others at the same power (FixedRssLossModel). Two
 *    PPDUs that start together are then 0 dB apart, no preamble is detected
 *    and both are lost: there is no capture, and no loss but by collision.
 *    With `power=distance` the default path loss is used instead, stations are
 *    drawn in a disc of radius `distance`, and capture occurs.
 *  - There is no queue discipline. What the AP holds is the MAC queue of best
 *    effort alone: one limit for all destinations, tail drop. A frame stays in
 *    it, and counts, until it is acknowledged.
 *  - The lifetime of a frame in a MAC queue (`lifetime`, 500 ms by default in
 *    ns-3) is raised, or a long queue loses frames by age and not by length.
 *  - Association and beacons are simulated, and by default what ARP then costs: a
 *    station that joins a network forgets its neighbours, so before its first
 *    packet it asks for the AP's address, after a wait of up to 10 ms. With
 *    `arp=false` it is told again.
 *  - `unanswered` is the share of data PPDUs that no ACK or Block ACK followed;
 *    Block ACK requests and management frames are counted apart.
 *
 * All rates and counts are those of the window [from, to). For the cost of a
 * packet (`make bench`), `observe=false` leaves everything out that watches the
 * cell; `cpu_seconds` is the processor time of the whole program.
 */

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/propagation-module.h"
#include "ns3/traffic-control-module.h"
#include "ns3/wifi-module.h"

#include <cstdio>
#include <ctime>
#include <map>
#include <memory>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

constexpr uint16_t kFirstPort = 1000; // of the first flow; each flow has its own

struct Options
{
    std::string standard = "n"; // a, b, g, n, ac
    uint32_t mcs = 7;
    uint32_t width = 40;
    uint32_t streams = 1;
    bool shortGuard = true;
    std::string dataMode;      // overrides what standard and MCS say
    uint32_t stations = 1;
    std::string direction = "down";
    std::string transport = "cubic"; // udp, newreno, linuxreno, cubic
    uint32_t ackEvery = 2;
    uint32_t segment = 1460;
    bool timestamps = false;
    uint32_t sendBuffer = 4u << 20;
    uint32_t receiveBuffer = 4u << 20;
    DataRate udpRate = DataRate("200Mbps");
    uint32_t udpPayload = 1472;
    uint32_t apQueue = 0; // 0: 126 for each flow
    uint32_t stationQueue = 1000;
    uint32_t cwMin = 0; // 0: the standard's
    uint32_t rts = 65535;
    uint32_t maxAmpdu = 65535;
    Time lifetime = Seconds(1000);
    Time stationLifetime = Seconds(0); // 0: as in the AP
    Time beacon = MicroSeconds(102400);
    std::string power = "equal";
    double distance = 1;
    bool arp = true;
    DataRate wiredRate = DataRate("500Mbps");
    Time wiredDelay = MilliSeconds(1);
    Time connect = Seconds(1); // the first connection; the others follow, `stagger` apart
    Time stagger = MilliSeconds(10);
    Time data = Seconds(2);
    Time dataStagger = Seconds(0);
    Time from = Seconds(4);
    Time to = Seconds(14);
    uint32_t seed = 1;
    bool observe = true;

    bool Qos() const
    {
        return standard == "n" || standard == "ac";
    }

    bool Udp() const
    {
        return transport == "udp";
    }
};

// ---------------------------------------------------------------- observations

/** PPDUs of one kind that ask for an answer. */
struct Exchanges
{
    uint64_t sent = 0;
    uint64_t answered = 0;
    uint64_t mpdus = 0;

    double Unanswered() const
    {
        return sent ? 1 - double(answered) / double(sent) : 0;
    }

    double Aggregation() const
    {
        return sent ? double(mpdus) / double(sent) : 0;
    }
};

struct Flow
{
    uint64_t read = 0; // octets handed to the application in the window
    uint64_t acks = 0; // pure ACKs sent in the window
    uint64_t timeouts = 0;
    uint64_t retransmissions = 0;
    SequenceNumber32 highest{0};
};

class Observer
{
  public:
    explicit Observer(const Options& options)
        : m_options(options),
          flows(options.stations)
    {
    }

    bool Observes() const
    {
        return m_options.observe;
    }

    bool Open() const
    {
        return Simulator::Now() >= m_options.from && Simulator::Now() < m_options.to;
    }

    /** A PPDU: data waits for its answer, an answer settles what its receiver sent last. */
    void OnPpdu(bool ap, WifiConstPsduMap psdus, WifiTxVector, double)
    {
        Ptr<const WifiPsdu> psdu = psdus.begin()->second;
        const WifiMacHeader& header = psdu->GetHeader(0);
        if (header.IsAck() || header.IsBlockAck())
        {
            auto last = m_last.find(psdu->GetAddr1());
            if (last != m_last.end() && last->second)
            {
                ++last->second->answered;
                last->second = nullptr;
            }
            return;
        }
        if (header.IsCts())
        {
            if (Open())
            {
                ++cts;
            }
            return;
        }
        if (psdu->GetAddr1().IsGroup())
        {
            return;
        }
        Exchanges* kind = header.IsData()          ? (ap ? &down : &up)
                          : header.IsBlockAckReq() ? &requests
                          : header.IsRts()         ? &rts
                                                   : &management;
        if (!Open())
        {
            m_last[psdu->GetAddr2()] = nullptr;
            return;
        }
        ++kind->sent;
        kind->mpdus += psdu->GetNMpdus();
        m_last[psdu->GetAddr2()] = kind == &rts ? nullptr : kind;
    }

    void OnQueue(uint32_t, uint32_t packets)
    {
        Settle();
        m_queue = packets;
    }

    /** A full MAC queue stops the layer above, which drops what it has no queue discipline for. */
    void OnDrop(Ptr<const Packet>)
    {
        apDrops += Open();
    }

    void OnExpired(Ptr<const WifiMpdu>)
    {
        expired += Open();
    }

    void OnRetryLimit(WifiMacDropReason reason, Ptr<const WifiMpdu>)
    {
        retryDrops += Open() && reason == WIFI_MAC_DROP_REACHED_RETRY_LIMIT;
    }

    /** There is no trace of a timeout as such, but only a timeout doubles the timer exactly. */
    void OnRto(uint32_t flow, Time before, Time after)
    {
        flows[flow].timeouts += Open() && before.IsStrictlyPositive() && after == before + before;
    }

    void OnSenderTx(uint32_t flow,
                    Ptr<const Packet> payload,
                    const TcpHeader& header,
                    Ptr<const TcpSocketBase>)
    {
        if (payload->GetSize() == 0)
        {
            return;
        }
        SequenceNumber32 seq = header.GetSequenceNumber();
        flows[flow].retransmissions += Open() && seq < flows[flow].highest;
        flows[flow].highest = std::max(flows[flow].highest, seq + payload->GetSize());
    }

    void OnReceiverTx(uint32_t flow,
                      Ptr<const Packet> payload,
                      const TcpHeader&,
                      Ptr<const TcpSocketBase>)
    {
        flows[flow].acks += Open() && payload->GetSize() == 0;
    }

    void Print();

    Exchanges down, up, requests, rts, management;
    uint64_t cts = 0, apDrops = 0, expired = 0, retryDrops = 0;

  private:
    void Settle()
    {
        const Time now = std::min(Simulator::Now(), m_options.to);
        const Time since = std::max(m_since, m_options.from);
        if (now > since)
        {
            m_area += m_queue * (now - since).GetSeconds();
        }
        m_since = Simulator::Now();
    }

    const Options& m_options;
    std::map<Mac48Address, Exchanges*> m_last; // what each device awaits an answer for
    uint32_t m_queue = 0;
    Time m_since;
    double m_area = 0;

  public:
    std::vector<Flow> flows;
};

void
Observer::Print()
{
    Settle();
    const double seconds = (m_options.to - m_options.from).GetSeconds();
    double sum = 0;
    double squares = 0;
    uint64_t delivered = 0;
    uint64_t acks = 0;
    uint64_t timeouts = 0;
    uint64_t retransmissions = 0;
    for (const Flow& flow : flows)
    {
        const double rate = 8e-6 * double(flow.read) / seconds;
        sum += rate;
        delivered += flow.read;
        squares += rate * rate;
        acks += flow.acks;
        timeouts += flow.timeouts;
        retransmissions += flow.retransmissions;
    }
    Exchanges all{down.sent + up.sent, down.answered + up.answered, down.mpdus + up.mpdus};

    std::printf("{\n");
    auto number = [](const char* key, double value) {
        std::printf("  \"%s\": %.4f,\n", key, value);
    };
    auto count = [](const char* key, uint64_t value, const char* end = ",") {
        std::printf("  \"%s\": %lu%s\n", key, static_cast<unsigned long>(value), end);
    };
    number("cpu_seconds", double(std::clock()) / CLOCKS_PER_SEC);
    count("delivered_bytes", delivered);
    number("goodput_mbps", sum);
    number("jain", squares > 0 ? sum * sum / (double(flows.size()) * squares) : 0);
    number("unanswered", all.Unanswered());
    number("unanswered_down", down.Unanswered());
    number("unanswered_up", up.Unanswered());
    number("unanswered_requests", requests.Unanswered());
    number("mpdus_down", down.Aggregation());
    number("mpdus_up", up.Aggregation());
    number("ap_queue", m_area / seconds);
    count("ppdus_down", down.sent);
    count("ppdus_up", up.sent);
    count("requests", requests.sent);
    count("rts", rts.sent);
    count("cts", cts);
    count("management", management.sent);
    count("acks", acks);
    count("rtos", timeouts);
    count("retransmissions", retransmissions);
    count("ap_drops", apDrops);
    count("expired", expired);
    count("retry_drops", retryDrops, "");
    std::printf("}\n");
}

// ---------------------------------------------------------------- applications

/** Connects at one time, and from another on keeps its send buffer full. */
class Source
{
  public:
    Source(const Options& o, Ptr<Node> node, Address sink, uint32_t flow, Observer& observer)
        : m_segment(o.segment),
          m_data(o.data + flow * o.dataStagger),
          m_socket(Socket::CreateSocket(node, TcpSocketFactory::GetTypeId()))
    {
        m_socket->Bind();
        m_socket->SetConnectCallback(MakeCallback(&Source::OnConnected, this),
                                     MakeNullCallback<void, Ptr<Socket>>());
        m_socket->SetSendCallback(MakeCallback(&Source::OnRoom, this));
        auto watch = [&](const char* source, auto callback) {
            bool found = !o.observe || m_socket->TraceConnectWithoutContext(source, callback);
            NS_ABORT_MSG_UNLESS(found, "no trace source " << source);
        };
        watch("RTO", MakeCallback(&Observer::OnRto, &observer).Bind(flow));
        watch("Tx", MakeCallback(&Observer::OnSenderTx, &observer).Bind(flow));
        const Time connect = o.connect + flow * o.stagger;
        Simulator::Schedule(connect, [this, sink] { m_socket->Connect(sink); });
    }

  private:
    void OnConnected(Ptr<Socket>)
    {
        m_open = true;
        const Time wait = std::max(Time(0), m_data - Simulator::Now());
        Simulator::Schedule(wait, [this] { OnRoom(m_socket, m_socket->GetTxAvailable()); });
    }

    void OnRoom(Ptr<Socket> socket, uint32_t)
    {
        if (!m_open || Simulator::Now() < m_data)
        {
            return;
        }
        while (socket->GetTxAvailable() >= m_segment &&
               socket->Send(Create<Packet>(m_segment)) == int(m_segment))
        {
        }
    }

    const uint32_t m_segment;
    const Time m_data;
    bool m_open = false;
    Ptr<Socket> m_socket;
};

/** Packets at a constant rate. */
class UdpSource
{
  public:
    UdpSource(Ptr<Node> node, Address sink, uint32_t payload, Time gap, Time start)
        : m_payload(payload),
          m_gap(gap),
          m_socket(Socket::CreateSocket(node, UdpSocketFactory::GetTypeId()))
    {
        m_socket->Bind();
        m_socket->Connect(sink);
        Simulator::Schedule(start, &UdpSource::Send, this);
    }

  private:
    void Send()
    {
        m_socket->Send(Create<Packet>(m_payload));
        Simulator::Schedule(m_gap, &UdpSource::Send, this);
    }

    const uint32_t m_payload;
    const Time m_gap;
    Ptr<Socket> m_socket;
};

/** Reads at once whatever arrives in order. */
class Sink
{
  public:
    Sink(Ptr<Node> node, TypeId factory, uint16_t port, uint32_t flow, Observer& observer)
        : m_flow(flow),
          m_observer(observer),
          m_listener(Socket::CreateSocket(node, factory))
    {
        m_listener->Bind(InetSocketAddress(Ipv4Address::GetAny(), port));
        m_listener->SetRecvCallback(MakeCallback(&Sink::OnReadable, this));
        m_listener->Listen();
        m_listener->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                                      MakeCallback(&Sink::OnAccept, this));
    }

  private:
    void OnAccept(Ptr<Socket> socket, const Address&)
    {
        socket->SetRecvCallback(MakeCallback(&Sink::OnReadable, this));
        if (m_observer.Observes())
        {
            socket->TraceConnectWithoutContext(
                "Tx",
                MakeCallback(&Observer::OnReceiverTx, &m_observer).Bind(m_flow));
        }
    }

    void OnReadable(Ptr<Socket> socket)
    {
        while (Ptr<Packet> packet = socket->Recv())
        {
            if (packet->GetSize() == 0)
            {
                break; // end of stream
            }
            if (m_observer.Open())
            {
                m_observer.flows[m_flow].read += packet->GetSize();
            }
        }
    }

    const uint32_t m_flow;
    Observer& m_observer;
    Ptr<Socket> m_listener;
};

// -------------------------------------------------------------------- the cell

WifiStandard
StandardOf(const Options& o)
{
    static const std::map<std::string, WifiStandard> known = {{"a", WIFI_STANDARD_80211a},
                                                              {"b", WIFI_STANDARD_80211b},
                                                              {"g", WIFI_STANDARD_80211g},
                                                              {"n", WIFI_STANDARD_80211n},
                                                              {"ac", WIFI_STANDARD_80211ac}};
    auto found = known.find(o.standard);
    NS_ABORT_MSG_IF(found == known.end(), "unknown standard " << o.standard);
    return found->second;
}

std::string
DataModeOf(const Options& o)
{
    if (!o.dataMode.empty())
    {
        return o.dataMode;
    }
    if (o.standard == "b")
    {
        return "DsssRate11Mbps";
    }
    if (o.Qos())
    {
        return (o.standard == "n" ? "HtMcs" : "VhtMcs") + std::to_string(o.mcs);
    }
    return o.standard == "g" ? "ErpOfdmRate54Mbps" : "OfdmRate54Mbps";
}

std::string
ControlModeOf(const Options& o)
{
    return o.standard == "b"   ? "DsssRate2Mbps"
           : o.standard == "g" ? "ErpOfdmRate24Mbps"
                               : "OfdmRate24Mbps";
}

/** Devices of the access point (first) and of the stations. */
NetDeviceContainer
Cell(const Options& o, Ptr<Node> ap, NodeContainer stations)
{
    auto channel = CreateObject<YansWifiChannel>();
    channel->SetPropagationDelayModel(CreateObject<ConstantSpeedPropagationDelayModel>());
    if (o.power == "equal")
    {
        auto loss = CreateObject<FixedRssLossModel>();
        loss->SetRss(-30);
        channel->SetPropagationLossModel(loss);
    }
    else
    {
        channel->SetPropagationLossModel(CreateObject<LogDistancePropagationLossModel>());
    }

    YansWifiPhyHelper phy;
    phy.SetChannel(channel);
    phy.Set("Antennas", UintegerValue(o.streams));
    phy.Set("MaxSupportedTxSpatialStreams", UintegerValue(o.streams));
    phy.Set("MaxSupportedRxSpatialStreams", UintegerValue(o.streams));
    if (o.Qos())
    {
        phy.Set("ChannelSettings",
                StringValue("{0, " + std::to_string(o.width) + ", BAND_5GHZ, 0}"));
    }

    WifiHelper wifi;
    wifi.SetStandard(StandardOf(o));
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                 "DataMode",
                                 StringValue(DataModeOf(o)),
                                 "ControlMode",
                                 StringValue(ControlModeOf(o)),
                                 "RtsCtsThreshold",
                                 UintegerValue(o.rts));
    WifiMacHelper mac;
    const bool shortSlot = o.standard == "g";
    mac.SetType("ns3::ApWifiMac",
                "Ssid",
                SsidValue(Ssid("cell")),
                "BeaconInterval",
                TimeValue(o.beacon),
                "ShortSlotTimeSupported",
                BooleanValue(shortSlot),
                "BE_MaxAmpduSize",
                UintegerValue(o.maxAmpdu));
    NetDeviceContainer devices = wifi.Install(phy, mac, ap);
    mac.SetType("ns3::StaWifiMac",
                "Ssid",
                SsidValue(Ssid("cell")),
                "MaxMissedBeacons",
                UintegerValue(1000000),
                "ShortSlotTimeSupported",
                BooleanValue(shortSlot),
                "BE_MaxAmpduSize",
                UintegerValue(o.maxAmpdu));
    devices.Add(wifi.Install(phy, mac, stations));

    MobilityHelper mobility;
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    mobility.Install(ap);
    mobility.SetPositionAllocator("ns3::UniformDiscPositionAllocator",
                                  "rho",
                                  DoubleValue(o.distance));
    mobility.Install(stations);
    return devices;
}

Ptr<WifiMac>
MacOf(Ptr<NetDevice> device)
{
    return DynamicCast<WifiNetDevice>(device)->GetMac();
}

/** The one channel access function that carries our data. */
Ptr<Txop>
DataTxop(const Options& o, Ptr<NetDevice> device)
{
    Ptr<WifiMac> mac = MacOf(device);
    return o.Qos() ? Ptr<Txop>(mac->GetQosTxop(AC_BE)) : mac->GetTxop();
}

void
Configure(const Options& o, NetDeviceContainer devices, Observer& observer)
{
    for (uint32_t i = 0; i < devices.GetN(); ++i)
    {
        const bool ap = i == 0;
        auto device = DynamicCast<WifiNetDevice>(devices.Get(i));
        if (o.Qos())
        {
            device->GetHtConfiguration()->SetShortGuardIntervalSupported(o.shortGuard);
        }
        Ptr<Txop> txop = DataTxop(o, device);
        if (o.cwMin > 0)
        {
            txop->SetMinCw(o.cwMin);
        }
        Ptr<WifiMacQueue> queue = txop->GetWifiMacQueue();
        const uint32_t limit =
            !ap ? o.stationQueue : (o.apQueue > 0 ? o.apQueue : 126 * o.stations);
        queue->SetMaxSize(QueueSize(QueueSizeUnit::PACKETS, limit));
        const bool same = ap || o.stationLifetime.IsZero();
        queue->SetMaxDelay(same ? o.lifetime : o.stationLifetime);
        if (!o.observe)
        {
            continue;
        }
        if (ap)
        {
            queue->TraceConnectWithoutContext("PacketsInQueue",
                                              MakeCallback(&Observer::OnQueue, &observer));
        }
        queue->TraceConnectWithoutContext("Expired",
                                          MakeCallback(&Observer::OnExpired, &observer));
        device->GetMac()->TraceConnectWithoutContext(
            "DroppedMpdu",
            MakeCallback(&Observer::OnRetryLimit, &observer));
        device->GetPhy()->TraceConnectWithoutContext(
            "PhyTxPsduBegin",
            MakeCallback(&Observer::OnPpdu, &observer).Bind(ap));
    }
}

void
SetTcpDefaults(const Options& o)
{
    static const std::map<std::string, std::string> known = {{"newreno", "ns3::TcpNewReno"},
                                                             {"linuxreno", "ns3::TcpLinuxReno"},
                                                             {"cubic", "ns3::TcpCubic"}};
    auto controller = known.find(o.transport);
    NS_ABORT_MSG_IF(!o.Udp() && controller == known.end(), "unknown transport " << o.transport);
    if (!o.Udp())
    {
        Config::SetDefault("ns3::TcpL4Protocol::SocketType",
                           TypeIdValue(TypeId::LookupByName(controller->second)));
    }
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(o.segment));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(o.ackEvery));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(o.sendBuffer));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(o.receiveBuffer));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(o.timestamps));
    // These are ns-3's defaults, written down because the result rests on them.
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType",
                       TypeIdValue(TcpPrrRecovery::GetTypeId()));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(Seconds(1)));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::WindowScaling", BooleanValue(true));
}

Options
Parse(int argc, char** argv)
{
    Options o;
    CommandLine cmd(__FILE__);
    cmd.AddValue("standard", "a, b, g, n or ac", o.standard);
    cmd.AddValue("mcs", "MCS of n and ac", o.mcs);
    cmd.AddValue("width", "channel of n and ac, MHz", o.width);
    cmd.AddValue("streams", "antennas and spatial streams", o.streams);
    cmd.AddValue("shortGuard", "short guard interval of n and ac", o.shortGuard);
    cmd.AddValue("dataMode", "ns-3's name of the data rate, e.g. OfdmRate24Mbps", o.dataMode);
    cmd.AddValue("stations", "stations, each with one flow", o.stations);
    cmd.AddValue("direction", "down or up", o.direction);
    cmd.AddValue("transport", "udp, newreno, linuxreno or cubic", o.transport);
    cmd.AddValue("ackEvery", "segments per acknowledgement", o.ackEvery);
    cmd.AddValue("segment", "payload of a TCP segment", o.segment);
    cmd.AddValue("timestamps", "TCP timestamps", o.timestamps);
    cmd.AddValue("sendBuffer", "TCP send buffer in bytes", o.sendBuffer);
    cmd.AddValue("receiveBuffer", "TCP receive buffer in bytes", o.receiveBuffer);
    cmd.AddValue("udpRate", "offered by all UDP flows together", o.udpRate);
    cmd.AddValue("udpPayload", "payload of a UDP packet", o.udpPayload);
    cmd.AddValue("apQueue", "MAC queue of the AP in packets; 0: 126 per flow", o.apQueue);
    cmd.AddValue("stationQueue", "MAC queue of a station in packets", o.stationQueue);
    cmd.AddValue("cwMin", "CWmin of AP and stations; 0: the standard's", o.cwMin);
    cmd.AddValue("rts", "RTS threshold in bytes", o.rts);
    cmd.AddValue("maxAmpdu", "longest A-MPDU in bytes; 0: no aggregation", o.maxAmpdu);
    cmd.AddValue("lifetime", "age at which a MAC queue drops a packet", o.lifetime);
    cmd.AddValue("stationLifetime", "the same in stations, if not 0", o.stationLifetime);
    cmd.AddValue("beacon", "beacon interval", o.beacon);
    cmd.AddValue("power", "equal: all hear all alike; distance: path loss and capture", o.power);
    cmd.AddValue("distance", "radius of the cell in metres", o.distance);
    cmd.AddValue("arp", "stations ask for the AP's address before their first packet", o.arp);
    cmd.AddValue("wiredRate", "server to AP", o.wiredRate);
    cmd.AddValue("wiredDelay", "server to AP, one way", o.wiredDelay);
    cmd.AddValue("connect", "the first connection is opened", o.connect);
    cmd.AddValue("stagger", "time between openings", o.stagger);
    cmd.AddValue("data", "data start", o.data);
    cmd.AddValue("dataStagger", "time between starts of data", o.dataStagger);
    cmd.AddValue("from", "start of the window", o.from);
    cmd.AddValue("to", "end of the window and of the run", o.to);
    cmd.AddValue("observe", "watch the cell; without it, only goodput and cost are told", o.observe);
    cmd.AddValue("seed", "run number of the random generator", o.seed);
    cmd.Parse(argc, argv);
    NS_ABORT_MSG_IF(o.direction != "down" && o.direction != "up", "unknown direction");
    NS_ABORT_MSG_IF(o.power != "equal" && o.power != "distance", "unknown power");
    return o;
}

} // namespace

int
main(int argc, char** argv)
{
    const Options o = Parse(argc, argv);
    RngSeedManager::SetRun(o.seed);
    SetTcpDefaults(o);

    NodeContainer wired;
    wired.Create(2); // the server and the access point
    NodeContainer stations;
    stations.Create(o.stations);
    Ptr<Node> server = wired.Get(0);
    Ptr<Node> ap = wired.Get(1);

    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", DataRateValue(o.wiredRate));
    link.SetChannelAttribute("Delay", TimeValue(o.wiredDelay));
    link.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("1000000p"));
    NetDeviceContainer ends = link.Install(wired);

    Observer observer(o);
    NetDeviceContainer devices = Cell(o, ap, stations);
    Configure(o, devices, observer);

    InternetStackHelper().InstallAll();
    Ipv4AddressHelper address("10.1.0.0", "255.255.0.0");
    const Ipv4Address serverAddress = address.Assign(ends).GetAddress(0);
    address.SetBase("10.2.0.0", "255.255.0.0");
    Ipv4InterfaceContainer cell = address.Assign(devices);
    TrafficControlHelper none; // an address brings a default queue disc with it
    none.Uninstall(ends);
    none.Uninstall(devices);
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    NeighborCacheHelper neighbours;
    neighbours.PopulateNeighborCache();
    if (!o.arp)
    {
        // Association flushes a station's cache.
        Simulator::Schedule(o.connect - MilliSeconds(100), [&neighbours] {
            neighbours.PopulateNeighborCache();
        });
    }
    if (o.observe)
    {
        ap->GetObject<TrafficControlLayer>()->TraceConnectWithoutContext(
            "TcDrop",
            MakeCallback(&Observer::OnDrop, &observer));
    }

    const bool down = o.direction == "down";
    const TypeId factory = o.Udp() ? UdpSocketFactory::GetTypeId() : TcpSocketFactory::GetTypeId();
    const Time gap = o.udpRate.CalculateBytesTxTime(o.udpPayload) * o.stations;
    std::vector<std::unique_ptr<Sink>> sinks;
    std::vector<std::unique_ptr<Source>> sources;
    std::vector<std::unique_ptr<UdpSource>> udpSources;
    for (uint32_t i = 0; i < o.stations; ++i)
    {
        const uint16_t port = kFirstPort + i;
        Ptr<Node> from = down ? server : stations.Get(i);
        Ptr<Node> to = down ? stations.Get(i) : server;
        InetSocketAddress sink(down ? cell.GetAddress(1 + i) : serverAddress, port);
        sinks.push_back(std::make_unique<Sink>(to, factory, port, i, observer));
        if (o.Udp())
        {
            const Time start = o.data + i * (gap / o.stations);
            udpSources.push_back(std::make_unique<UdpSource>(from, sink, o.udpPayload, gap, start));
        }
        else
        {
            sources.push_back(std::make_unique<Source>(o, from, sink, i, observer));
        }
    }

    Simulator::Stop(o.to);
    Simulator::Run();
    observer.Print();
    Simulator::Destroy();
    return 0;
}
