/* Linux's Minstrel-HT as a program: it reads the outcome of an exchange and prints the retry
 * chain of the next one.
 *
 *     driver SEED STREAMS
 *
 * Each input line has the time in us, then for each rate tried: MCS, attempts, MPDUs, and how many of these arrived in
 * the last attempt. Each output line has 1 if the first rate is a sample, else 0, then MCS and attempts of each rate.
 * The first input line has only the time.
 */
#include "shim.h"

#include <stdio.h>

unsigned long jiffies;
static u64 random_state;
static const struct rate_control_ops *ops;

/* SplitMix64. */
void get_random_bytes(void *bytes, size_t count)
{
	for (u8 *to = bytes; count--; to++) {
		u64 x = random_state += 0x9e3779b97f4a7c15;
		x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
		x = (x ^ x >> 27) * 0x94d049bb133111eb;
		*to = (u8)(x >> 56);
	}
}

int ieee80211_rate_control_register(const struct rate_control_ops *registered)
{
	ops = registered;
	return 0;
}

void ieee80211_rate_control_unregister(const struct rate_control_ops *registered)
{
	(void)registered;
}

int rate_control_set_rates(struct ieee80211_hw *hw, struct ieee80211_sta *sta, struct ieee80211_sta_rates *rates)
{
	(void)hw;
	free(sta->rates);
	sta->rates = rates;
	return 0;
}

/* SIFS with the signal extension, preamble, SIGNAL, then symbols of 4 us with SERVICE, bytes, check sum and tail. */
int ieee80211_frame_duration(enum nl80211_band band, size_t len, int rate, int erp, int short_preamble, int shift)
{
	int bits = 16 + 8 * ((int)len + 4) + 6;

	(void)band, (void)erp, (void)short_preamble, (void)shift;
	return 16 + 16 + 4 + 4 * DIV_ROUND_UP(bits * 10, 4 * rate);
}

/* The chain of the next frame: mac80211 uses the sample's rates, and the table where the sample sets none. */
static void answer(void *priv, struct ieee80211_sta *sta, void *priv_sta)
{
	struct sk_buff skb = { .info = { .flags = IEEE80211_TX_CTL_AMPDU } };
	struct ieee80211_tx_rate_control control = { .skb = &skb };
	struct ieee80211_tx_rate *own = skb.info.status.rates;

	for (int i = 0; i < IEEE80211_TX_MAX_RATES; i++)
		own[i].idx = -1;
	ops->get_rate(priv, sta, priv_sta, &control);
	printf("%d", (skb.info.flags & IEEE80211_TX_CTL_RATE_CTRL_PROBE) != 0);
	for (int i = 0; i < IEEE80211_TX_MAX_RATES; i++) {
		if (own[i].idx >= 0 && own[i].count)
			printf(" %d %d", own[i].idx, own[i].count);
		else if (sta->rates->rate[i].idx >= 0 && sta->rates->rate[i].count)
			printf(" %d %d", sta->rates->rate[i].idx, sta->rates->rate[i].count);
		else
			break;
	}
	putchar('\n');
	fflush(stdout);
}

int main(int argc, char **argv)
{
	/* The rates of 802.11a, in 100 kbit/s. */
	struct ieee80211_rate rates[] = { { 0, 60 }, { 0, 90 }, { 0, 120 }, { 0, 180 },
					  { 0, 240 }, { 0, 360 }, { 0, 480 }, { 0, 540 } };
	struct ieee80211_supported_band band = { rates, NL80211_BAND_5GHZ, ARRAY_SIZE(rates) };
	struct wiphy wiphy = { .bands = { [NL80211_BAND_5GHZ] = &band } };
	/* The numbers of rates, and of attempts at each, of ath9k's radios. */
	struct ieee80211_hw hw = { .wiphy = &wiphy, .max_rates = 4, .max_rate_tries = 10 };
	struct vif_of_shim vif = { 0 };
	struct sta_info info = { .sdata = &vif };
	struct ieee80211_sta *sta = &info.sta;
	struct cfg80211_chan_def channel = { 0 };
	char line[512];

	if (argc != 3)
		return 2;
	random_state = strtoull(argv[1], NULL, 10);
	sta->deflink.smps_mode = IEEE80211_SMPS_OFF;
	sta->deflink.ht_cap.ht_supported = true;
	for (int stream = 0; stream < atoi(argv[2]); stream++)
		sta->deflink.ht_cap.mcs.rx_mask[stream] = 0xff;
	rc80211_minstrel_init();
	void *priv = ops->alloc(&hw);
	void *priv_sta = ops->alloc_sta(priv, sta, GFP_ATOMIC);
	ops->rate_init(priv, &band, &channel, sta, priv_sta);
	while (fgets(line, sizeof(line), stdin)) {
		char *at = line;
		int mcs, tries, sent, arrived, used;

		jiffies = strtoul(at, &at, 10) * HZ / 1000000;
		/* Linux reports one number of MPDUs for all rates. Here slower rates send fewer, so report each rate separately. */
		while (sscanf(at, "%d %d %d %d%n", &mcs, &tries, &sent, &arrived, &used) == 4) {
			struct ieee80211_tx_info frame = { .flags = IEEE80211_TX_CTL_AMPDU | IEEE80211_TX_STAT_AMPDU };
			struct ieee80211_tx_status status = { .info = &frame };

			for (int i = 0; i < IEEE80211_TX_MAX_RATES; i++)
				frame.status.rates[i].idx = -1;
			frame.status.rates[0] = (struct ieee80211_tx_rate){ mcs, tries, IEEE80211_TX_RC_MCS };
			frame.status.ampdu_len = sent;
			frame.status.ampdu_ack_len = arrived;
			ops->tx_status_ext(priv, &band, priv_sta, &status);
			at += used;
		}
		answer(priv, sta, priv_sta);
	}
	return 0;
}
