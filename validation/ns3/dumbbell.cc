/*
 * TCP over a wired dumbbell in ns-3 3.37, with an optional gate that
 * compresses the acknowledgements. It is the second opinion against which the
 * wired scenarios of this repository are read; it is not the truth.
 *
 * The choice made here, and why:
 *
 *   src ==10G== r1 --(FIFO qlen, rate)--> r2 ==10G== dst
 *                  <-(gate, 1G)----------
 *
 *  - The bottleneck is a FifoQueueDisc of `qlen` packets above a device queue of
 *    ONE packet, with a further packet on the wire: r1 holds qlen + 2. Drops,
 *    queue length and queue delay are those of the queue disc alone. With the
 *    FIFO placed in the device instead, the published lines do not come back.
 *  - A segment carries 1448 bytes plus the timestamp option: 1500 bytes of IP
 *    packet, 1502 on a PPP link.
 *  - All propagation sits on the access links, half on each. With 1 ms on each
 *    and the rest in the middle (`edge`) CCperf's sampled metrics come back as
 *    well. In the splits tried it moved the phase of samples, never a drop.
 *  - The access rate does matter. It sets the spacing of a burst where it meets
 *    the FIFO, and the order of arrivals and departures there decides which
 *    segment is lost. At 1 or 100 Gbps the same flow has other drops.
 *  - The receiver acknowledges every `ackEvery` segments; CCperf uses 1.
 *  - The source keeps its send buffer full, the sink reads at once.
 *  - Published sRTT, window and queue are time-weighted; CCperf samples its
 *    series every two RTTs. Both are printed, and event averages beside them.
 *
 * With `trace`, a CSV of (time in ns, event, value): cwnd, ssthresh, in_flight
 * (bytes), state, srtt, rto (ns, the doubled timer), send and retransmit
 * (sequence:length), ack (number:SACK blocks), drop (sequence).
 *
 * For the cost of a packet (`make bench`): `observe=false` leaves everything out
 * that watches the flow, `flows` adds more of them, and `alone` lets them begin
 * and end at r1 and r2. `cpu_seconds` is the processor time of the whole program.
 *
 * Nothing here draws a random number: `seed` is accepted and changes nothing.
 */

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace ns3;

namespace
{

constexpr uint32_t kSegment = 1448;        // payload of a full segment
constexpr uint16_t kPort = 9;              // of the first flow; each flow has its own
constexpr char kAccessRate[] = "10Gbps";
constexpr char kReturnRate[] = "1Gbps";
constexpr char kUnlimited[] = "1000000p";  // a queue that must never drop

struct Options
{
    std::string controller = "TcpNewReno";
    uint32_t ackEvery = 1;
    Time interval = MilliSeconds(5);
    uint32_t quota = 0; // 0: no gate
    DataRate rate = DataRate("16Mbps");
    Time rtt = MilliSeconds(15);
    Time edge = Seconds(-1); // propagation of each access link; negative: a quarter of the RTT
    uint32_t qlen = 20;
    Time time = Seconds(15);
    uint32_t seed = 1;
    uint32_t buffer = 4u << 20;
    uint32_t flows = 1;
    Time spacing = MilliSeconds(10); // between the starts of flows
    bool alone = false;              // no access links
    bool observe = true;
    std::string trace;
};

// ---------------------------------------------------------------- the ACK gate

/**
 * At each multiple of the interval it passes at most `quota` of the packets
 * waiting at that instant. What exceeds the quota waits for the next tick, and
 * what is left of the quota is lost: a later packet cannot use it.
 *
 * It is a queue disc, so that the packets of one tick still leave one after the
 * other at the speed of the link below.
 */
class AckGate : public QueueDisc
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("acklab::AckGate")
                                .SetParent<QueueDisc>()
                                .AddConstructor<AckGate>()
                                .AddAttribute("Interval",
                                              "Time between ticks",
                                              TimeValue(MilliSeconds(5)),
                                              MakeTimeAccessor(&AckGate::m_interval),
                                              MakeTimeChecker())
                                .AddAttribute("PerTick",
                                              "Packets passed by a tick, at most",
                                              UintegerValue(10),
                                              MakeUintegerAccessor(&AckGate::m_perTick),
                                              MakeUintegerChecker<uint32_t>(1));
        return tid;
    }

    AckGate()
        : QueueDisc(QueueDiscSizePolicy::SINGLE_INTERNAL_QUEUE)
    {
    }

  private:
    void Tick()
    {
        m_credit = std::min(m_perTick, GetInternalQueue(0)->GetNPackets());
        Simulator::Schedule(m_interval, &AckGate::Tick, this);
        Run();
    }

    bool DoEnqueue(Ptr<QueueDiscItem> item) override
    {
        return GetInternalQueue(0)->Enqueue(item);
    }

    Ptr<QueueDiscItem> DoDequeue() override
    {
        if (m_credit == 0)
        {
            return nullptr;
        }
        --m_credit;
        return GetInternalQueue(0)->Dequeue();
    }

    bool CheckConfig() override
    {
        if (GetNInternalQueues() == 0)
        {
            AddInternalQueue(CreateObjectWithAttributes<DropTailQueue<QueueDiscItem>>(
                "MaxSize",
                QueueSizeValue(QueueSize(kUnlimited))));
        }
        return GetNInternalQueues() == 1 && GetNQueueDiscClasses() == 0;
    }

    void InitializeParams() override
    {
        m_credit = 0;
        Simulator::Schedule(m_interval, &AckGate::Tick, this);
    }

    Time m_interval;
    uint32_t m_perTick{1};
    uint32_t m_credit{0};
};

// ------------------------------------------------------------------ statistics

/** Average over samples. */
struct Mean
{
    double sum = 0;
    uint64_t n = 0;

    void Add(double x)
    {
        sum += x;
        ++n;
    }

    double Get() const
    {
        return n ? sum / n : 0;
    }
};

/** A value that changes at events: its average over them and over time. */
class Signal
{
  public:
    void Set(double value)
    {
        Settle();
        m_value = value;
        m_events.Add(value);
    }

    std::optional<double> Now() const
    {
        return m_value;
    }

    double OverEvents() const
    {
        return m_events.Get();
    }

    /** From the first event to now. */
    double OverTime()
    {
        Settle();
        return m_time > 0 ? m_area / m_time : 0;
    }

  private:
    void Settle()
    {
        if (m_value)
        {
            double dt = (Simulator::Now() - m_since).GetSeconds();
            m_area += *m_value * dt;
            m_time += dt;
        }
        m_since = Simulator::Now();
    }

    Mean m_events;
    std::optional<double> m_value;
    Time m_since;
    double m_area = 0;
    double m_time = 0;
};

double
MeanOf(const std::vector<double>& x)
{
    Mean m;
    for (double v : x)
    {
        m.Add(v);
    }
    return m.Get();
}

/** Standard deviation over mean. */
double
Variation(const std::vector<double>& x)
{
    double mean = MeanOf(x);
    Mean square;
    for (double v : x)
    {
        square.Add((v - mean) * (v - mean));
    }
    return mean != 0 ? std::sqrt(square.Get()) / mean : 0;
}

// ---------------------------------------------------------------- observations

/** Everything seen of the run: counters, signals, periodic samples, the trace. */
class Observer
{
  public:
    explicit Observer(const Options& options)
        : m_options(options),
          m_step(2 * options.rtt)
    {
        if (!options.trace.empty())
        {
            m_file = std::fopen(options.trace.c_str(), "w");
            NS_ABORT_MSG_IF(!m_file, "cannot write " << options.trace);
            std::fputs("time_ns,event,value\n", m_file);
        }
        if (options.observe)
        {
            m_queue.Set(0); // the queue exists, empty, from the start
            Simulator::Schedule(m_step, &Observer::Sample, this);
        }
    }

    ~Observer()
    {
        if (m_file)
        {
            std::fclose(m_file);
        }
    }

    void WatchSender(Ptr<Socket> socket)
    {
        Connect(socket, "CongestionWindow", &Observer::OnCwnd);
        Connect(socket, "SlowStartThreshold", &Observer::OnSsthresh);
        Connect(socket, "BytesInFlight", &Observer::OnInFlight);
        Connect(socket, "CongState", &Observer::OnState);
        Connect(socket, "RTT", &Observer::OnSrtt); // ns-3 calls it RTT; it is the smoothed one
        Connect(socket, "RTO", &Observer::OnRto);
        Connect(socket, "Tx", &Observer::OnSenderTx);
        Connect(socket, "Rx", &Observer::OnSenderRx);
    }

    void WatchReceiver(Ptr<Socket> socket)
    {
        Connect(socket, "Tx", &Observer::OnReceiverTx);
        Connect(socket, "Rx", &Observer::OnReceiverRx);
    }

    void WatchBottleneck(Ptr<QueueDisc> disc, Ptr<NetDevice> device)
    {
        Connect(disc, "PacketsInQueue", &Observer::OnQueue);
        Connect(disc, "SojournTime", &Observer::OnSojourn);
        Connect(disc, "Drop", &Observer::OnDrop);
        Connect(device, "PhyTxEnd", &Observer::OnWire);
    }

    void Written(uint32_t bytes)
    {
        m_written += bytes;
        if (!m_options.observe)
        {
            return;
        }
        m_writes.emplace_back(m_written, Simulator::Now());
    }

    void Read(uint32_t bytes)
    {
        m_read += bytes;
        while (!m_writes.empty() && m_writes.front().first <= m_read)
        {
            m_appDelay.Set(1e3 * (Simulator::Now() - m_writes.front().second).GetSeconds());
            m_writes.pop_front();
        }
    }

    void Print();

  private:
    template <typename T, typename M>
    void Connect(Ptr<T> object, const char* source, M method)
    {
        if (!m_options.observe)
        {
            return;
        }
        bool found = object->TraceConnectWithoutContext(source, MakeCallback(method, this));
        NS_ABORT_MSG_UNLESS(found, "no trace source " << source);
    }

    template <typename... A>
    void Trace(const char* event, const char* format, A... values)
    {
        if (m_file)
        {
            std::fprintf(m_file, "%ld,%s,", long(Simulator::Now().GetNanoSeconds()), event);
            std::fprintf(m_file, format, values...);
            std::fputc('\n', m_file);
        }
    }

    void OnCwnd(uint32_t, uint32_t bytes)
    {
        m_cwnd.Set(double(bytes) / kSegment);
        Trace("cwnd", "%u", bytes);
    }

    void OnSsthresh(uint32_t, uint32_t bytes)
    {
        Trace("ssthresh", "%u", bytes);
    }

    void OnInFlight(uint32_t, uint32_t bytes)
    {
        m_inFlight.Set(double(bytes) / kSegment);
        Trace("in_flight", "%u", bytes);
    }

    void OnState(TcpSocketState::TcpCongState_t, TcpSocketState::TcpCongState_t state)
    {
        // A recovery lasts until the socket is open again, a timeout on the way included.
        bool repairing = state == TcpSocketState::CA_RECOVERY || state == TcpSocketState::CA_LOSS;
        if (repairing && !m_repairSince)
        {
            m_repairSince = Simulator::Now();
        }
        else if (state == TcpSocketState::CA_OPEN && m_repairSince)
        {
            m_repair.Add(1e3 * (Simulator::Now() - *m_repairSince).GetSeconds());
            m_repairSince.reset();
        }
        Trace("state", "%s", TcpSocketState::TcpCongStateName[state]);
    }

    void OnSrtt(Time, Time srtt)
    {
        m_srtt.Set(1e3 * srtt.GetSeconds());
        Trace("srtt", "%ld", long(srtt.GetNanoSeconds()));
    }

    void OnRto(Time before, Time after)
    {
        // There is no trace of the timeout as such, but only a timeout doubles the timer exactly.
        if (before.IsStrictlyPositive() && after == before + before)
        {
            ++m_timeouts;
            Trace("rto", "%ld", long(after.GetNanoSeconds()));
        }
    }

    void OnSenderTx(Ptr<const Packet> payload, const TcpHeader& header, Ptr<const TcpSocketBase>)
    {
        uint32_t size = payload->GetSize();
        if (size == 0)
        {
            return;
        }
        SequenceNumber32 seq = header.GetSequenceNumber();
        bool again = seq < m_highest;
        m_highest = std::max(m_highest, seq + size);
        m_retransmissions += again;
        m_sent += size;
        Trace(again ? "retransmit" : "send", "%u:%u", seq.GetValue(), size);
    }

    void OnSenderRx(Ptr<const Packet>, const TcpHeader& header, Ptr<const TcpSocketBase>)
    {
        ++m_acksReceived;
        m_acked = std::max(m_acked, header.GetAckNumber());
        unsigned blocks = 0;
        for (const auto& option : header.GetOptionList())
        {
            if (option->GetKind() == TcpOption::SACK)
            {
                blocks = DynamicCast<const TcpOptionSack>(option)->GetNumSackBlocks();
            }
        }
        Trace("ack", "%u:%u", header.GetAckNumber().GetValue(), blocks);
    }

    void OnReceiverTx(Ptr<const Packet>, const TcpHeader&, Ptr<const TcpSocketBase>)
    {
        ++m_acksSent;
    }

    void OnReceiverRx(Ptr<const Packet> payload, const TcpHeader&, Ptr<const TcpSocketBase>)
    {
        m_arrived += payload->GetSize();
    }

    void OnQueue(uint32_t, uint32_t packets)
    {
        m_queue.Set(packets);
    }

    void OnSojourn(Time delay)
    {
        m_sojourn.Add(1e3 * delay.GetSeconds());
    }

    void OnDrop(Ptr<const QueueDiscItem> item)
    {
        ++m_drops;
        TcpHeader header; // a queue disc holds the IP header apart from the packet
        item->GetPacket()->PeekHeader(header);
        Trace("drop", "%u", header.GetSequenceNumber().GetValue());
    }

    void OnWire(Ptr<const Packet> frame)
    {
        m_wire += frame->GetSize();
    }

    /** What CCperf does: look at the clock every two RTTs, and take the value of that moment. */
    void Sample()
    {
        double throughput = 8e-6 * double(m_arrived - m_arrivedBefore) / m_step.GetSeconds();
        m_arrivedBefore = m_arrived;
        s_throughput.push_back(throughput);
        if (throughput > 0)
        {
            s_pf.push_back(std::log(throughput));
            s_mpdf.push_back(-1 / throughput);
        }
        Keep(s_cwnd, m_cwnd);
        Keep(s_inFlight, m_inFlight);
        Keep(s_srtt, m_srtt);
        Keep(s_queue, m_queue);
        Keep(s_appDelay, m_appDelay);
        if (m_srtt.Now())
        {
            s_power.push_back(1e3 * throughput / *m_srtt.Now());
        }
        Simulator::Schedule(m_step, &Observer::Sample, this);
    }

    static void Keep(std::vector<double>& series, const Signal& signal)
    {
        if (signal.Now())
        {
            series.push_back(*signal.Now());
        }
    }

    const Options& m_options;
    const Time m_step;
    std::FILE* m_file = nullptr;

    Signal m_cwnd, m_inFlight, m_srtt, m_queue, m_appDelay;
    Mean m_sojourn, m_repair;
    std::optional<Time> m_repairSince;
    uint64_t m_drops = 0, m_retransmissions = 0, m_timeouts = 0;
    uint64_t m_acksSent = 0, m_acksReceived = 0;
    uint64_t m_written = 0, m_read = 0, m_sent = 0, m_wire = 0; // bytes
    uint64_t m_arrived = 0, m_arrivedBefore = 0;                // bytes, in any order
    std::deque<std::pair<uint64_t, Time>> m_writes; // (total written so far, when), unread
    SequenceNumber32 m_highest{0}; // one past the highest byte sent
    SequenceNumber32 m_acked{1};   // data begin at 1

    std::vector<double> s_throughput, s_pf, s_mpdf, s_power;
    std::vector<double> s_cwnd, s_inFlight, s_srtt, s_queue, s_appDelay;
};

void
Observer::Print()
{
    const double seconds = m_options.time.GetSeconds();
    const double toMbps = 8e-6 / seconds;
    const double propagation = 1e3 * m_options.rtt.GetSeconds();
    const double packetTime = 1e3 * 8 * kSegment / m_options.rate.GetBitRate();

    std::printf("{\n");
    auto number = [](const char* key, double value, const char* end = ",") {
        std::printf("  \"%s\": %.4f%s\n", key, value, end);
    };
    auto count = [](const char* key, uint64_t value) {
        std::printf("  \"%s\": %lu,\n", key, static_cast<unsigned long>(value));
    };
    std::printf("  \"controller\": \"%s\",\n", m_options.controller.c_str());
    count("ack_every", m_options.ackEvery);
    number("gate_interval_ms", m_options.quota ? 1e3 * m_options.interval.GetSeconds() : 0);
    count("gate_quota", m_options.quota);

    number("cpu_seconds", double(std::clock()) / CLOCKS_PER_SEC);
    count("delivered_bytes", m_read);
    number("goodput_mbps", m_read * toMbps);
    count("drops", m_drops);
    count("retransmissions", m_retransmissions);
    count("rtos", m_timeouts);
    count("acks_sent", m_acksSent);
    count("acks_received", m_acksReceived);
    number("srtt_ms_event", m_srtt.OverEvents());
    number("srtt_ms_time", m_srtt.OverTime());
    number("cwnd_event", m_cwnd.OverEvents());
    number("cwnd_time", m_cwnd.OverTime());
    number("in_flight_event", m_inFlight.OverEvents());
    number("in_flight_time", m_inFlight.OverTime());
    number("queue_event", m_queue.OverEvents());
    number("queue_time", m_queue.OverTime());
    number("queue_delay_ms", m_sojourn.Get()); // over packets that left the queue disc

    // The names below are CCperf's. It does not publish how it computes them: these definitions
    // were found by looking for those which give its numbers.
    number("ccperf_mean_throughput", MeanOf(s_throughput));
    number("ccperf_cov_throughput", Variation(s_throughput));
    number("ccperf_mean_cwnd", MeanOf(s_cwnd));
    number("ccperf_mean_in_flight", MeanOf(s_inFlight));
    number("ccperf_cov_in_flight", Variation(s_inFlight));
    number("ccperf_mean_srtt", MeanOf(s_srtt));
    number("ccperf_mean_est_qdelay", MeanOf(s_srtt) - propagation);
    number("ccperf_mean_network_power", MeanOf(s_power));
    number("ccperf_mean_utility_pf", MeanOf(s_pf));
    number("ccperf_mean_utility_mpdf", MeanOf(s_mpdf));
    number("ccperf_mean_one_way_delay_l7", MeanOf(s_appDelay));
    number("ccperf_mean_recovery_time", m_repair.Get());
    number("ccperf_mean_qdisc_length", MeanOf(s_queue));
    number("ccperf_mean_qdisc_delay", MeanOf(s_queue) * packetTime); // from length, not measured
    number("ccperf_mean_delivery_rate", (m_acked - SequenceNumber32(1)) * toMbps);
    number("ccperf_mean_sending_rate_l1", m_wire * toMbps);
    number("ccperf_mean_sending_rate_l4", m_sent * toMbps);
    number("ccperf_mean_sending_rate_l7", m_written * toMbps, "");
    std::printf("}\n");
}

// ---------------------------------------------------------------- applications

/** Writes whole segments whenever the send buffer has room for one. */
class Source
{
  public:
    Source(Ptr<Node> node, Observer& observer)
        : m_observer(observer),
          m_socket(Socket::CreateSocket(node, TcpSocketFactory::GetTypeId()))
    {
        m_socket->Bind();
        m_socket->SetConnectCallback(MakeCallback(&Source::OnConnected, this),
                                     MakeNullCallback<void, Ptr<Socket>>());
        m_socket->SetSendCallback(MakeCallback(&Source::OnRoom, this));
        observer.WatchSender(m_socket);
    }

    void Connect(Address sink)
    {
        m_socket->Connect(sink);
    }

  private:
    void OnConnected(Ptr<Socket> socket)
    {
        OnRoom(socket, socket->GetTxAvailable());
    }

    void OnRoom(Ptr<Socket> socket, uint32_t)
    {
        while (socket->GetTxAvailable() >= kSegment &&
               socket->Send(Create<Packet>(kSegment)) == int(kSegment))
        {
            m_observer.Written(kSegment);
        }
    }

    Observer& m_observer;
    Ptr<Socket> m_socket;
};

/** Reads at once whatever arrives in order. */
class Sink
{
  public:
    Sink(Ptr<Node> node, uint16_t port, Observer& observer)
        : m_observer(observer),
          m_listener(Socket::CreateSocket(node, TcpSocketFactory::GetTypeId()))
    {
        m_listener->Bind(InetSocketAddress(Ipv4Address::GetAny(), port));
        m_listener->Listen();
        m_listener->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                                      MakeCallback(&Sink::OnAccept, this));
    }

  private:
    void OnAccept(Ptr<Socket> socket, const Address&)
    {
        socket->SetRecvCallback(MakeCallback(&Sink::OnReadable, this));
        m_observer.WatchReceiver(socket);
    }

    void OnReadable(Ptr<Socket> socket)
    {
        while (Ptr<Packet> packet = socket->Recv())
        {
            if (packet->GetSize() == 0)
            {
                break; // end of stream
            }
            m_observer.Read(packet->GetSize());
        }
    }

    Observer& m_observer;
    Ptr<Socket> m_listener;
};

// -------------------------------------------------------------------- topology

/** A link; each end has its own rate and queue, which the helper does not allow. */
NetDeviceContainer
Link(Ptr<Node> a, Ptr<Node> b, Time delay, DataRate rateA, DataRate rateB, std::string queueA)
{
    PointToPointHelper helper;
    helper.SetChannelAttribute("Delay", TimeValue(delay));
    helper.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue(kUnlimited));
    NetDeviceContainer devices = helper.Install(a, b);
    auto end = [&](uint32_t i) { return DynamicCast<PointToPointNetDevice>(devices.Get(i)); };
    end(0)->SetDataRate(rateA);
    end(1)->SetDataRate(rateB);
    end(0)->GetQueue()->SetMaxSize(QueueSize(queueA));
    return devices;
}

Options
Parse(int argc, char** argv)
{
    Options o;
    CommandLine cmd(__FILE__);
    cmd.AddValue("controller", "TcpNewReno, TcpLinuxReno, TcpCubic or TcpVegas", o.controller);
    cmd.AddValue("ackEvery", "segments per acknowledgement", o.ackEvery);
    cmd.AddValue("interval", "time between ticks of the gate", o.interval);
    cmd.AddValue("quota", "packets a tick passes; 0 for no gate", o.quota);
    cmd.AddValue("rate", "bottleneck rate", o.rate);
    cmd.AddValue("rtt", "propagation, both ways together", o.rtt);
    cmd.AddValue("edge", "propagation of each access link; a quarter of the rtt if negative", o.edge);
    cmd.AddValue("qlen", "bottleneck FIFO in packets", o.qlen);
    cmd.AddValue("time", "length of the run", o.time);
    cmd.AddValue("seed", "accepted for symmetry; the scenario is deterministic", o.seed);
    cmd.AddValue("buffer", "send and receive buffer in bytes", o.buffer);
    cmd.AddValue("flows", "how many flows; more than one only without observation", o.flows);
    cmd.AddValue("spacing", "time between the starts of flows", o.spacing);
    cmd.AddValue("alone", "flows begin and end at the ends of the bottleneck", o.alone);
    cmd.AddValue("observe", "watch the flow; without it, only goodput and cost are told", o.observe);
    cmd.AddValue("trace", "write the events of the flow to this CSV file", o.trace);
    cmd.Parse(argc, argv);
    if (o.edge.IsStrictlyNegative())
    {
        o.edge = o.alone ? Time(0) : o.rtt / 4;
    }
    NS_ABORT_MSG_IF(2 * o.edge > o.rtt / 2, "access links longer than the path");
    NS_ABORT_MSG_IF(o.alone && !o.edge.IsZero(), "no access link, so no propagation there");
    NS_ABORT_MSG_IF(o.flows > 1 && o.observe, "one flow is observed at most");
    return o;
}

void
SetTcpDefaults(const Options& o)
{
    TypeId controller = TypeId::LookupByName("ns3::" + o.controller);
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(controller));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(kSegment));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(o.ackEvery));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(o.buffer));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(o.buffer));
    // These are ns-3's defaults, written down because the result rests on them.
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType",
                       TypeIdValue(TcpPrrRecovery::GetTypeId()));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(Seconds(1)));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::WindowScaling", BooleanValue(true));
}

} // namespace

int
main(int argc, char** argv)
{
    const Options o = Parse(argc, argv);
    RngSeedManager::SetSeed(o.seed);
    SetTcpDefaults(o);

    NodeContainer nodes;
    nodes.Create(o.alone ? 2 : 4);
    Ptr<Node> r1 = nodes.Get(0);
    Ptr<Node> r2 = nodes.Get(1);
    Ptr<Node> src = o.alone ? r1 : nodes.Get(2);
    Ptr<Node> dst = o.alone ? r2 : nodes.Get(3);
    InternetStackHelper().Install(nodes);

    const DataRate access(kAccessRate);
    const Time middle = o.rtt / 2 - 2 * o.edge;
    NetDeviceContainer core = Link(r1, r2, middle, o.rate, DataRate(kReturnRate), "1p");
    std::vector<NetDeviceContainer> links = {core};
    if (!o.alone)
    {
        links.insert(links.begin(), Link(src, r1, o.edge, access, access, kUnlimited));
        links.push_back(Link(r2, dst, o.edge, access, access, kUnlimited));
    }

    Ipv4AddressHelper address("10.0.0.0", "255.255.255.0");
    Ipv4InterfaceContainer addresses;
    TrafficControlHelper none;
    for (const NetDeviceContainer& link : links)
    {
        addresses = address.Assign(link);
        address.NewNetwork();
        none.Uninstall(link); // an address brings a default queue disc with it
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    TrafficControlHelper fifo;
    fifo.SetRootQueueDisc("ns3::FifoQueueDisc",
                          "MaxSize",
                          QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, o.qlen)));
    Ptr<QueueDisc> bottleneck = fifo.Install(core.Get(0)).Get(0);
    if (o.quota > 0)
    {
        TrafficControlHelper gate;
        gate.SetRootQueueDisc(AckGate::GetTypeId().GetName(),
                              "Interval",
                              TimeValue(o.interval),
                              "PerTick",
                              UintegerValue(o.quota),
                              "Quota", // ns-3's own limit on one run of a queue disc, 64 by default
                              UintegerValue(o.quota));
        gate.Install(core.Get(1));
    }

    Observer observer(o);
    observer.WatchBottleneck(bottleneck, core.Get(0));
    std::vector<std::unique_ptr<Sink>> sinks;
    std::vector<std::unique_ptr<Source>> sources;
    for (uint32_t i = 0; i < o.flows; ++i)
    {
        sinks.push_back(std::make_unique<Sink>(dst, kPort + i, observer));
        sources.push_back(std::make_unique<Source>(src, observer));
        const Address to = InetSocketAddress(addresses.GetAddress(1), kPort + i);
        Simulator::Schedule(i * o.spacing, &Source::Connect, sources.back().get(), to);
    }

    Simulator::Stop(o.time + TimeStep(1)); // so that the sample at the very end is taken
    Simulator::Run();
    observer.Print();
    Simulator::Destroy();
    return 0;
}
