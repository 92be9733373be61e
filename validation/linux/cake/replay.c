/*
 * Lets the same packets arrive at and leave the kernel's ACK filter as a run of ours had, and prints which ACK it removes.
 *
 * Input: 0, or 1 for the aggressive filter; then
 *   A id flow ack ecn kind other tsval tsecr blocks start end …   arrives: ecn has AE, CWR and ECE in bits 2, 1 and 0; kind is p (pure), d (data) or f (FIN);
 *                                                                 other is - (nothing), p (PSH) or o (an unknown option); tsval is - without timestamps
 *   L id flow                                                      leaves
 * Output, for each arrival: id, and the id of the ACK that is removed or "-". Flows of even numbers are IPv4, the others IPv6.
 */
#include "kernel.h"
#include "ack_filter.c"

#define FLOWS 16
#define PAYLOAD 100

static void put32(u8 **to, u32 value)
{
	value = htonl(value);
	memcpy(*to, &value, sizeof(value));
	*to += sizeof(value);
}

static u8 *put_header(struct sk_buff *skb, int flow, unsigned int behind)
{
	if (flow % 2) {
		struct ipv6hdr *ip = (struct ipv6hdr *)skb->data;

		ip->version = 6;
		ip->nexthdr = IPPROTO_TCP;
		ip->payload_len = htons(behind);
		ip->saddr.s6_addr[15] = flow;
		return (u8 *)(ip + 1);
	} else {
		struct iphdr *ip = (struct iphdr *)skb->data;

		ip->version = 4;
		ip->ihl = 5;
		ip->protocol = IPPROTO_TCP;
		ip->tot_len = htons(behind + sizeof(*ip));
		ip->saddr = htonl(flow);
		return (u8 *)(ip + 1);
	}
}

/* The packet of a line, without the octets of its payload. */
static struct sk_buff *packet(int *flow)
{
	struct sk_buff *skb = calloc(1, sizeof(*skb));
	unsigned int ack, ecn, blocks, length;
	char kind, other, tsval[16], tsecr[16];
	u8 options[40], *at = options;
	struct tcphdr *tcp;

	if (scanf("%d %d %u %u %c %c %15s %15s %u", &skb->id, flow, &ack, &ecn, &kind, &other, tsval, tsecr, &blocks) != 9)
		exit(1);
	if (tsval[0] != '-') {
		memcpy(at, (u8[]){ TCPOPT_NOP, TCPOPT_NOP, TCPOPT_TIMESTAMP, TCPOLEN_TIMESTAMP }, 4);
		at += 4;
		put32(&at, strtoul(tsval, NULL, 10));
		put32(&at, strtoul(tsecr, NULL, 10));
	}
	if (other == 'o') {
		memcpy(at, (u8[]){ 30, 4, 0, 0 }, 4);
		at += 4;
	}
	if (blocks) {
		memcpy(at, (u8[]){ TCPOPT_NOP, TCPOPT_NOP, TCPOPT_SACK, TCPOLEN_SACK_BASE + 8 * blocks }, 4);
		at += 4;
	}
	for (unsigned int edge = 0; edge < 2 * blocks; edge++) {
		unsigned int value;

		if (scanf("%u", &value) != 1)
			exit(1);
		put32(&at, value);
	}
	length = at - options;
	tcp = (struct tcphdr *)put_header(skb, *flow, sizeof(*tcp) + length + (kind == 'd' ? PAYLOAD : 0));
	tcp->source = htons(5001);
	tcp->dest = htons(40000 + *flow);
	tcp->ack_seq = htonl(ack);
	tcp->doff = 5 + length / 4;
	tcp_flag_word(tcp) |= TCP_FLAG_ACK | (kind == 'f' ? TCP_FLAG_FIN : 0) | (other == 'p' ? TCP_FLAG_PSH : 0) | (ecn & 1 ? TCP_FLAG_ECE : 0) |
			      (ecn & 2 ? TCP_FLAG_CWR : 0) | (ecn & 4 ? htonl(0x01000000) : 0);
	memcpy(tcp + 1, options, length);
	skb->len = (u8 *)(tcp + 1) + length - skb->data;
	return skb;
}

static void leave(struct cake_flow *flow, int id)
{
	struct sk_buff *skb = flow->head;

	/* The head of our queue is the oldest packet of its flow. */
	if (!skb || skb->id != id)
		exit(2);
	flow->head = skb->next;
	free(skb);
}

int main(void)
{
	static struct cake_flow flows[FLOWS];
	struct cake_sched_data q = {};
	int aggressive, flow, id;
	char event;

	if (scanf("%d", &aggressive) != 1)
		return 1;
	q.ack_filter = aggressive ? CAKE_ACK_AGGRESSIVE : CAKE_ACK_FILTER;
	while (scanf(" %c", &event) == 1) {
		if (event == 'A') {
			struct sk_buff *skb = packet(&flow), *removed;

			flow_queue_add(&flows[flow], skb);
			removed = cake_ack_filter(&q, &flows[flow]);
			printf(removed ? "%d %d\n" : "%d -\n", skb->id, removed ? removed->id : 0);
			free(removed);
		} else {
			if (scanf("%d %d", &id, &flow) != 2)
				return 1;
			leave(&flows[flow], id);
		}
	}
	return 0;
}
