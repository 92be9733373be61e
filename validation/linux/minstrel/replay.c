/*
 * Puts the same questions to the kernel's Minstrel-HT as a run of ours was asked, and prints its answers.
 *
 * Input: format (H, V, O or C), width in MHz, short guard interval (0 or 1), streams; ten random orders of ten rates; then
 *   C ms                                              what would be sent?
 *   R ms width short_guard streams mcs sent delivered   how did that fare?
 * Output, for each C: ms, the probe or "-", and the chain; a rate is width/short_guard/streams/mcs*tries.
 */
#include "rc80211_minstrel_ht.c"

unsigned long jiffies;
struct ieee80211_sta_rates *chain;
static char format;

static void print(int idx, u16 flags, int count)
{
	int width = flags & IEEE80211_TX_RC_80_MHZ_WIDTH ? 80 : flags & IEEE80211_TX_RC_40_MHZ_WIDTH ? 40 : 20;
	int streams = format == 'H' ? idx / 8 + 1 : format == 'V' ? (idx >> 4) + 1 : 1;
	int mcs = format == 'H' ? idx % 8 : format == 'V' ? idx & 15 : idx;

	printf(" %d/%d/%d/%d*%d", width, !!(flags & IEEE80211_TX_RC_SHORT_GI), streams, mcs, count);
}

static void choose(struct minstrel_priv *mp, struct minstrel_ht_sta *mi, struct ieee80211_sta *sta)
{
	struct sk_buff skb = {};
	struct ieee80211_tx_rate_control txrc = { &skb, false };
	struct ieee80211_tx_rate *probe = &skb.info.status.rates[0];

	minstrel_ht_get_rate(mp, sta, mi, &txrc);
	printf("%lu", jiffies);
	if (skb.info.flags & IEEE80211_TX_CTL_RATE_CTRL_PROBE)
		print(probe->idx, probe->flags, probe->count);
	else
		printf(" -");
	for (int i = 0; i < IEEE80211_TX_RATE_TABLE_SIZE; i++)
		print(chain->rate[i].idx, chain->rate[i].flags, chain->rate[i].count);
	putchar('\n');
}

static int report(struct minstrel_priv *mp, struct minstrel_ht_sta *mi, struct ieee80211_supported_band *band)
{
	int width, short_guard, streams, mcs, sent, delivered;
	struct ieee80211_tx_info info = { .flags = IEEE80211_TX_CTL_AMPDU | IEEE80211_TX_STAT_AMPDU };
	struct ieee80211_tx_status status = { .info = &info };
	struct ieee80211_tx_rate *rate = info.status.rates;

	if (scanf("%d %d %d %d %d %d", &width, &short_guard, &streams, &mcs, &sent, &delivered) != 6)
		return 1;
	rate->count = 1;
	rate[1].idx = -1;
	if (format == 'H' || format == 'V') {
		rate->idx = format == 'H' ? mcs + 8 * (streams - 1) : (streams - 1) << 4 | mcs;
		rate->flags = (format == 'H' ? IEEE80211_TX_RC_MCS : IEEE80211_TX_RC_VHT_MCS) |
			      (short_guard ? IEEE80211_TX_RC_SHORT_GI : 0) |
			      (width == 80 ? IEEE80211_TX_RC_80_MHZ_WIDTH : width == 40 ? IEEE80211_TX_RC_40_MHZ_WIDTH : 0);
	} else {
		rate->idx = mcs;
	}
	info.status.ampdu_len = sent;
	info.status.ampdu_ack_len = delivered;
	minstrel_ht_tx_status(mp, band, mi, &status);
	return 0;
}

int main(void)
{
	int width, short_guard, streams;
	struct ieee80211_rate ofdm[8] = {}, cck[4] = {};
	struct ieee80211_supported_band band5 = { NL80211_BAND_5GHZ, 8, ofdm }, band2 = { NL80211_BAND_2GHZ, 4, cck };
	struct sta_info station = { .sdata = calloc(1, sizeof(*station.sdata)) };
	struct ieee80211_sta *sta = &station.sta;
	struct ieee80211_hw hw = { .max_rates = 4, .wiphy = calloc(1, sizeof(*hw.wiphy)) };
	struct cfg80211_chan_def chandef = {};
	struct minstrel_ht_sta *mi = calloc(1, sizeof(*mi));
	struct ieee80211_supported_band *band;
	struct minstrel_priv *mp;
	char operation;

	for (int i = 0; i < 8; i++)
		ofdm[i].bitrate = minstrel_ofdm_bitrates[i];
	for (int i = 0; i < 4; i++)
		cck[i].bitrate = minstrel_cck_bitrates[i];
	if (scanf(" %c %d %d %d", &format, &width, &short_guard, &streams) != 4)
		return 1;
	band = format == 'C' ? &band2 : &band5;
	hw.wiphy->bands[band->band] = band;
	if (format == 'H' || format == 'V') {
		sta->deflink.ht_cap.ht_supported = true;
		sta->deflink.ht_cap.cap = short_guard ? IEEE80211_HT_CAP_SGI_20 | IEEE80211_HT_CAP_SGI_40 : 0;
		memset(sta->deflink.ht_cap.mcs.rx_mask, 0xff, streams);
		sta->deflink.bandwidth = width == 80 ? IEEE80211_STA_RX_BW_80 : width == 40 ? IEEE80211_STA_RX_BW_40 : 0;
	}
	if (format == 'V') {
		struct ieee80211_sta_vht_cap *vht = &sta->deflink.vht_cap;

		vht->vht_supported = true;
		vht->cap = short_guard ? IEEE80211_VHT_CAP_SHORT_GI_80 : 0;
		for (int i = 0; i < 8; i++)
			vht->vht_mcs.tx_mcs_map |= (i < streams ? IEEE80211_VHT_MCS_SUPPORT_0_9 : 3) << (2 * i);
	}
	for (int i = 0; i < SAMPLE_COLUMNS * MCS_GROUP_RATES; i++) {
		int rate;

		if (scanf("%d", &rate) != 1)
			return 1;
		sample_table[i / MCS_GROUP_RATES][i % MCS_GROUP_RATES] = rate;
	}
	mp = minstrel_ht_alloc(&hw);
	minstrel_ht_rate_init(mp, band, &chandef, sta, mi);
	while (scanf(" %c %lu", &operation, &jiffies) == 2) {
		if (operation == 'C')
			choose(mp, mi, sta);
		else if (report(mp, mi, band))
			return 1;
	}
	return 0;
}
