/* Enough of the kernel's headers to build the ACK filter of net/sched/sch_cake.c as a program: names and shapes that it uses, and nothing behind them. */
#pragma once
#include <arpa/inet.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;

#define min(a, b) ((a) < (b) ? (a) : (b))
#define cpu_to_be32 htonl

/* include/net/tcp.h */
#define TCPOPT_NOP 1
#define TCPOPT_EOL 0
#define TCPOPT_MSS 2
#define TCPOPT_WINDOW 3
#define TCPOPT_SACK_PERM 4
#define TCPOPT_SACK 5
#define TCPOPT_TIMESTAMP 8
#define TCPOPT_MD5SIG 19
#define TCPOPT_FASTOPEN 34
#define TCPOPT_EXP 254
#define TCPOLEN_TIMESTAMP 10
#define TCPOLEN_SACK_BASE 2
#define before(a, b) ((int32_t)((a) - (b)) < 0)
#define after(a, b) before(b, a)

struct tcp_sack_block_wire {
	__be32 start_seq;
	__be32 end_seq;
};

struct sk_buff {
	struct sk_buff *next;
	int id;
	unsigned int len;
	u8 data[128];
};

struct cake_flow {
	struct sk_buff *head, *tail;
};

enum { CAKE_ACK_NONE, CAKE_ACK_FILTER, CAKE_ACK_AGGRESSIVE };

struct cake_sched_data {
	int ack_filter;
};

static inline unsigned int skb_network_offset(const struct sk_buff *skb)
{
	return 0;
}

static inline void *skb_header_pointer(const struct sk_buff *skb, unsigned int offset, unsigned int len, void *buffer)
{
	return offset + len <= skb->len ? (void *)(skb->data + offset) : NULL;
}

static inline void skb_mark_not_on_list(struct sk_buff *skb)
{
	skb->next = NULL;
}

static inline unsigned int __tcp_hdrlen(const struct tcphdr *tcph)
{
	return tcph->doff * 4;
}

static inline unsigned int iph_totlen(const struct sk_buff *skb, const struct iphdr *iph)
{
	return ntohs(iph->tot_len);
}

static inline unsigned int ipv6_payload_len(const struct sk_buff *skb, const struct ipv6hdr *ip)
{
	return ntohs(ip->payload_len);
}

static inline int ipv6_addr_cmp(const struct in6_addr *a, const struct in6_addr *b)
{
	return memcmp(a, b, sizeof(*a));
}

static inline u32 get_unaligned_be32(const void *from)
{
	u32 value;

	memcpy(&value, from, sizeof(value));
	return ntohl(value);
}
