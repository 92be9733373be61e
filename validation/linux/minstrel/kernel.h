/* Enough of the kernel's headers to build net/mac80211/rc80211_minstrel_ht.c as a program: names and shapes that it uses, and nothing behind them. */
#pragma once
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef uint16_t __le16;
typedef unsigned int gfp_t;

#define U16_MAX UINT16_MAX
#define U32_MAX UINT32_MAX
#define BIT(n) (1u << (n))
#define GENMASK(high, low) ((~0u << (low)) & (~0u >> (31 - (high))))
#define FIELD_PREP(mask, value) (((unsigned int)(value) << __builtin_ctz(mask)) & (mask))
#define FIELD_GET(mask, value) (((value) & (mask)) >> __builtin_ctz(mask))
#define DIV_ROUND_UP(a, b) (((a) + (b) - 1) / (b))
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define min_t(type, a, b) min((type)(a), (type)(b))
#define unlikely(x) (x)
#define container_of(p, type, member) ((type *)((char *)(p) - offsetof(type, member)))
#define le16_to_cpu(x) (x)
#define cpu_to_le16(x) ((u16)(x))
#define WARN_ON(x) (x)
#define BUILD_BUG_ON(x)
#define __init
#define __read_mostly
#define module_param(name, type, mode)
#define MODULE_PARM_DESC(name, text)
#define GFP_ATOMIC 0
#define kzalloc(size, flags) calloc(1, size)
#define kfree(p) free((void *)(p))
#define get_random_bytes(p, size) memset(p, 0, size)

/* One jiffy is a millisecond. */
#define HZ 1000
extern unsigned long jiffies;
#define time_after(a, b) ((long)((b) - (a)) < 0)
#define time_is_after_jiffies(a) time_after(a, jiffies)

enum nl80211_band { NL80211_BAND_2GHZ, NL80211_BAND_5GHZ, NUM_NL80211_BANDS };
enum {
	IEEE80211_TX_RC_USE_RTS_CTS = BIT(0),
	IEEE80211_TX_RC_USE_SHORT_PREAMBLE = BIT(2),
	IEEE80211_TX_RC_MCS = BIT(3),
	IEEE80211_TX_RC_40_MHZ_WIDTH = BIT(5),
	IEEE80211_TX_RC_SHORT_GI = BIT(7),
	IEEE80211_TX_RC_VHT_MCS = BIT(8),
	IEEE80211_TX_RC_80_MHZ_WIDTH = BIT(9),
	IEEE80211_TX_RC_160_MHZ_WIDTH = BIT(10),
};
enum { RATE_INFO_FLAGS_MCS = BIT(0), RATE_INFO_FLAGS_VHT_MCS = BIT(1), RATE_INFO_FLAGS_SHORT_GI = BIT(2) };
enum { RATE_INFO_BW_40 = BIT(0), RATE_INFO_BW_80 = BIT(1) };
enum { IEEE80211_RATE_SHORT_PREAMBLE = BIT(0), IEEE80211_RATE_ERP_G = BIT(4) };
enum { IEEE80211_VHT_MCS_SUPPORT_0_7, IEEE80211_VHT_MCS_SUPPORT_0_8, IEEE80211_VHT_MCS_SUPPORT_0_9 };
enum {
	IEEE80211_HT_CAP_LDPC_CODING = 0x0001,
	IEEE80211_HT_CAP_SGI_20 = 0x0020,
	IEEE80211_HT_CAP_SGI_40 = 0x0040,
	IEEE80211_HT_CAP_RX_STBC = 0x0300,
	IEEE80211_HT_CAP_RX_STBC_SHIFT = 8,
	IEEE80211_VHT_CAP_RXLDPC = 0x0010,
	IEEE80211_VHT_CAP_SHORT_GI_80 = 0x0020,
	IEEE80211_VHT_CAP_RXSTBC_MASK = 0x0700,
	IEEE80211_VHT_CAP_RXSTBC_SHIFT = 8,
};
enum { IEEE80211_SMPS_OFF = 1, IEEE80211_SMPS_STATIC, IEEE80211_SMPS_DYNAMIC };
enum { IEEE80211_STA_RX_BW_20, IEEE80211_STA_RX_BW_40, IEEE80211_STA_RX_BW_80 };
enum {
	IEEE80211_TX_CTL_NO_ACK = BIT(0),
	IEEE80211_TX_CTL_AMPDU = BIT(1),
	IEEE80211_TX_STAT_AMPDU = BIT(2),
	IEEE80211_TX_STAT_ACK = BIT(3),
	IEEE80211_TX_CTL_RATE_CTRL_PROBE = BIT(4),
	IEEE80211_TX_CTL_LDPC = BIT(5),
	IEEE80211_TX_CTL_STBC_SHIFT = 23,
	IEEE80211_TX_CTRL_PORT_CTRL_PROTO = BIT(0),
};
#define IEEE80211_TX_MAX_RATES 4
#define IEEE80211_TX_RATE_TABLE_SIZE 4
#define IEEE80211_MAX_MPDU_LEN_HT_BA 4095
#define RATE_CTRL_CAPA_AMPDU_TRIGGER BIT(1)
#define ieee80211_hw_check(hw, flag) false
#define test_sta_flag(sta, flag) false

struct ieee80211_tx_rate {
	s8 idx;
	u16 count : 5, flags : 11;
};
struct ieee80211_tx_info {
	u32 flags;
	struct { u32 flags; } control;
	struct {
		struct ieee80211_tx_rate rates[IEEE80211_TX_MAX_RATES];
		u8 ampdu_ack_len, ampdu_len;
	} status;
};
struct dentry;
struct sk_buff { struct ieee80211_tx_info info; };
#define IEEE80211_SKB_CB(skb) (&(skb)->info)
struct rate_info { u16 flags, legacy; u8 mcs, nss, bw; };
struct ieee80211_rate_status { struct rate_info rate_idx; u8 try_count; };
struct ieee80211_tx_status {
	struct ieee80211_tx_info *info;
	struct ieee80211_rate_status *rates;
	u8 n_rates;
};
struct ieee80211_rate { u32 flags; u16 bitrate; };
struct ieee80211_supported_band {
	enum nl80211_band band;
	int n_bitrates;
	struct ieee80211_rate *bitrates;
};
struct ieee80211_mcs_info { u8 rx_mask[10]; };
struct ieee80211_sta_vht_cap { bool vht_supported; u32 cap; struct { u16 tx_mcs_map; } vht_mcs; };
struct ieee80211_sta {
	struct {
		struct { u16 cap; bool ht_supported; struct ieee80211_mcs_info mcs; } ht_cap;
		struct ieee80211_sta_vht_cap vht_cap;
		int smps_mode, bandwidth;
		struct { u16 max_rc_amsdu_len; } agg;
	} deflink;
};
struct sta_info {
	struct { struct { struct { bool use_short_preamble; } bss_conf; } vif; } *sdata;
	struct ieee80211_sta sta;
};
struct cfg80211_chan_def { int width; };
struct ieee80211_hw {
	int max_rates, max_rate_tries;
	struct { struct ieee80211_supported_band *bands[NUM_NL80211_BANDS]; } *wiphy;
	struct { struct cfg80211_chan_def chandef; } conf;
};
struct ieee80211_sta_rates {
	struct { s8 idx; u8 count, count_cts, count_rts; u16 flags; } rate[IEEE80211_TX_RATE_TABLE_SIZE];
};
struct ieee80211_tx_rate_control { struct sk_buff *skb; bool short_preamble; };
struct rate_control_ops {
	const char *name;
	int capa;
	void (*tx_status_ext)(void *, struct ieee80211_supported_band *, void *, struct ieee80211_tx_status *);
	void (*get_rate)(void *, struct ieee80211_sta *, void *, struct ieee80211_tx_rate_control *);
	void (*rate_init)(void *, struct ieee80211_supported_band *, struct cfg80211_chan_def *, struct ieee80211_sta *, void *);
	void (*rate_update)(void *, struct ieee80211_supported_band *, struct cfg80211_chan_def *, struct ieee80211_sta *, void *, u32);
	void *(*alloc_sta)(void *, struct ieee80211_sta *, gfp_t);
	void (*free_sta)(void *, struct ieee80211_sta *, void *);
	void *(*alloc)(struct ieee80211_hw *);
	void (*free)(void *);
	u32 (*get_expected_throughput)(void *);
};
#define ieee80211_rate_control_register(ops) 0
#define ieee80211_rate_control_unregister(ops)
#define rate_supported(sta, band, index) true
#define rate_lowest_index(band, sta) 0
#define ieee80211_chandef_rate_flags(chandef) 0
#define ieee80211_sta_recalc_aggregates(sta)
#define ieee80211_rate_get_vht_mcs(rate) ((rate)->idx & 0xf)
#define ieee80211_rate_get_vht_nss(rate) (((rate)->idx >> 4) + 1)
#define ieee80211_rate_set_vht(rate, mcs, nss) ((rate)->idx = ((nss) - 1) << 4 | (mcs))

/* The chain that the code under test last set. */
extern struct ieee80211_sta_rates *chain;
#define rate_control_set_rates(hw, sta, rates) (free(chain), chain = (rates))

int ieee80211_frame_duration(enum nl80211_band band, size_t len, int rate, int erp, int short_preamble);
