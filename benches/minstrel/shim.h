/* User-space stand-ins for the parts of the kernel that Linux's rc80211_minstrel_ht.c uses.
 *
 * run.py makes every header that the file includes lead here. Names are Linux's; structs have only the members in use.
 * Members are as wide as in Linux where counters may overflow or shifts may lose bits. Members that only drivers and
 * mac80211 read have no effect.
 */
#ifndef SHIM_H
#define SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef uint8_t u8;
typedef int8_t s8;
typedef uint16_t u16;
typedef int16_t s16;
typedef uint16_t __le16;
typedef uint32_t u32;
typedef int32_t s32;
typedef uint64_t u64;
typedef int gfp_t;

/* Compiler and arithmetic. */
#define __init
#define __read_mostly
#define likely(x) (x)
#define unlikely(x) (x)
#define BUILD_BUG_ON(x) _Static_assert(!(x), #x)
#define WARN_ON(x) ((x) ? abort(), true : false)
#define module_param(name, type, mode)
#define MODULE_PARM_DESC(name, text)
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define container_of(p, type, member) ((type *)((char *)(p) - offsetof(type, member)))
#define BIT(n) (1UL << (n))
#define GENMASK(high, low) (BIT((high) + 1) - BIT(low))
#define FIELD_PREP(mask, value) (((u64)(value) << __builtin_ctzl(mask)) & (mask))
#define FIELD_GET(mask, value) (((u64)(value) & (mask)) >> __builtin_ctzl(mask))
#define DIV_ROUND_UP(a, b) (((a) + (b) - 1) / (b))
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define min_t(type, a, b) min((type)(a), (type)(b))
#define le16_to_cpu(x) ((u16)(x))
#define cpu_to_le16(x) ((__le16)(x))

/* Memory, time and random numbers. */
#define GFP_ATOMIC 0
#define kzalloc(size, gfp) calloc(1, size)
#define kfree(p) free(p)
#define HZ 250 /* Debian's */
extern unsigned long jiffies;
#define time_after(a, b) ((long)((b) - (a)) < 0)
#define time_is_after_jiffies(a) time_after(a, jiffies)
void get_random_bytes(void *bytes, size_t count);

/* Bands, and rates without MCS. */
enum nl80211_band { NL80211_BAND_2GHZ, NL80211_BAND_5GHZ, NUM_NL80211_BANDS };
enum { IEEE80211_RATE_SHORT_PREAMBLE = BIT(0), IEEE80211_RATE_ERP_G = BIT(4) };
struct ieee80211_rate { u32 flags; u16 bitrate; };
struct ieee80211_supported_band { struct ieee80211_rate *bitrates; enum nl80211_band band; int n_bitrates; };
struct wiphy { struct ieee80211_supported_band *bands[NUM_NL80211_BANDS]; };
struct cfg80211_chan_def { int width; };
#define ieee80211_chandef_rate_flags(def) 0
#define ieee80211_chandef_get_shift(def) 0
#define rate_lowest_index(band, sta) 0
#define rate_supported(sta, band, index) true

/* The radio. It has none of the properties that Minstrel-HT asks for. */
struct ieee80211_hw {
	struct { struct cfg80211_chan_def chandef; } conf;
	struct wiphy *wiphy;
	u8 max_rates, max_rate_tries;
};
#define ieee80211_hw_check(hw, property) false

/* The receiver. */
enum ieee80211_smps_mode { IEEE80211_SMPS_OFF = 1, IEEE80211_SMPS_STATIC, IEEE80211_SMPS_DYNAMIC };
enum { IEEE80211_STA_RX_BW_20, IEEE80211_STA_RX_BW_40, IEEE80211_STA_RX_BW_80 };
enum {
	IEEE80211_HT_CAP_LDPC_CODING = 0x1,
	IEEE80211_HT_CAP_SGI_20 = 0x20,
	IEEE80211_HT_CAP_SGI_40 = 0x40,
	IEEE80211_HT_CAP_RX_STBC = 0x300,
	IEEE80211_HT_CAP_RX_STBC_SHIFT = 8,
	IEEE80211_VHT_CAP_RXLDPC = 0x10,
	IEEE80211_VHT_CAP_SHORT_GI_80 = 0x20,
	IEEE80211_VHT_CAP_RXSTBC_MASK = 0x700,
	IEEE80211_VHT_CAP_RXSTBC_SHIFT = 8,
	IEEE80211_MAX_MPDU_LEN_HT_BA = 4095,
};
enum { IEEE80211_VHT_MCS_SUPPORT_0_7, IEEE80211_VHT_MCS_SUPPORT_0_8, IEEE80211_VHT_MCS_SUPPORT_0_9 };
struct ieee80211_mcs_info { u8 rx_mask[10]; };
struct ieee80211_sta_ht_cap { u16 cap; bool ht_supported; struct ieee80211_mcs_info mcs; };
struct ieee80211_sta_vht_cap { bool vht_supported; u32 cap; struct { __le16 tx_mcs_map; } vht_mcs; };
#define IEEE80211_TX_RATE_TABLE_SIZE 4
struct ieee80211_sta_rates {
	struct { s8 idx; u8 count, count_cts, count_rts; u16 flags; } rate[IEEE80211_TX_RATE_TABLE_SIZE];
};
struct ieee80211_sta {
	struct ieee80211_sta_rates *rates;
	struct {
		struct ieee80211_sta_ht_cap ht_cap;
		struct ieee80211_sta_vht_cap vht_cap;
		enum ieee80211_smps_mode smps_mode;
		int bandwidth;
		struct { u16 max_rc_amsdu_len; } agg;
	} deflink;
};
struct vif_of_shim { struct { struct { bool use_short_preamble; } bss_conf; } vif; };
struct sta_info { struct vif_of_shim *sdata; struct ieee80211_sta sta; };
#define test_sta_flag(sta, flag) false
#define ieee80211_sta_recalc_aggregates(sta) ((void)(sta))

/* Frames and their fate. */
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
enum {
	IEEE80211_TX_CTL_NO_ACK = BIT(2),
	IEEE80211_TX_CTL_AMPDU = BIT(6),
	IEEE80211_TX_STAT_ACK = BIT(9),
	IEEE80211_TX_STAT_AMPDU = BIT(10),
	IEEE80211_TX_CTL_RATE_CTRL_PROBE = BIT(11),
	IEEE80211_TX_CTL_LDPC = BIT(22),
	IEEE80211_TX_CTL_STBC_SHIFT = 23,
	IEEE80211_TX_CTRL_PORT_CTRL_PROTO = BIT(0),
};
#define IEEE80211_TX_MAX_RATES 4
struct ieee80211_tx_rate { s8 idx; u16 count : 5, flags : 11; };
struct ieee80211_tx_info {
	u32 flags;
	struct { u32 flags; } control;
	struct { struct ieee80211_tx_rate rates[IEEE80211_TX_MAX_RATES]; u8 ampdu_ack_len, ampdu_len; } status;
};
struct sk_buff { struct ieee80211_tx_info info; };
#define IEEE80211_SKB_CB(skb) (&(skb)->info)
struct ieee80211_tx_rate_control { struct sk_buff *skb; bool short_preamble; };
static inline u8 ieee80211_rate_get_vht_mcs(const struct ieee80211_tx_rate *rate) { return rate->idx & 0xf; }
static inline u8 ieee80211_rate_get_vht_nss(const struct ieee80211_tx_rate *rate) { return ((u8)rate->idx >> 4) + 1; }
static inline void ieee80211_rate_set_vht(struct ieee80211_tx_rate *rate, u8 mcs, u8 streams)
{
	rate->idx = (s8)((streams - 1) << 4 | mcs);
}

/* The newer report of a frame's rates, which our driver does not use. */
enum { RATE_INFO_FLAGS_MCS = BIT(0), RATE_INFO_FLAGS_VHT_MCS = BIT(1), RATE_INFO_FLAGS_SHORT_GI = BIT(2) };
enum { RATE_INFO_BW_20, RATE_INFO_BW_40, RATE_INFO_BW_80 };
struct rate_info { u16 flags, legacy; u8 mcs, nss, bw; };
struct ieee80211_rate_status { struct rate_info rate_idx; u8 try_count; };
struct ieee80211_tx_status { struct ieee80211_tx_info *info; struct ieee80211_rate_status *rates; u8 n_rates; };

/* Between mac80211 and a rate control. */
struct dentry;
enum { RATE_CTRL_CAPA_AMPDU_TRIGGER = BIT(1) };
struct rate_control_ops {
	unsigned long capa;
	const char *name;
	void *(*alloc)(struct ieee80211_hw *hw);
	void (*free)(void *priv);
	void *(*alloc_sta)(void *priv, struct ieee80211_sta *sta, gfp_t gfp);
	void (*rate_init)(void *priv, struct ieee80211_supported_band *band, struct cfg80211_chan_def *chandef,
			  struct ieee80211_sta *sta, void *priv_sta);
	void (*rate_update)(void *priv, struct ieee80211_supported_band *band, struct cfg80211_chan_def *chandef,
			    struct ieee80211_sta *sta, void *priv_sta, u32 changed);
	void (*free_sta)(void *priv, struct ieee80211_sta *sta, void *priv_sta);
	void (*tx_status_ext)(void *priv, struct ieee80211_supported_band *band, void *priv_sta,
			      struct ieee80211_tx_status *status);
	void (*get_rate)(void *priv, struct ieee80211_sta *sta, void *priv_sta, struct ieee80211_tx_rate_control *txrc);
	u32 (*get_expected_throughput)(void *priv_sta);
};
int ieee80211_rate_control_register(const struct rate_control_ops *ops);
void ieee80211_rate_control_unregister(const struct rate_control_ops *ops);
int rate_control_set_rates(struct ieee80211_hw *hw, struct ieee80211_sta *sta, struct ieee80211_sta_rates *rates);
int ieee80211_frame_duration(enum nl80211_band band, size_t len, int rate, int erp, int short_preamble, int shift);
int rc80211_minstrel_init(void);
void rc80211_minstrel_exit(void);

#endif
