/* What the properties mean to the library, and which go together. */
#include <gst/gst.h>
#include <string.h>

#include "properties.h"

enum { kDefaultLookahead = 40 };

RateMode properties_rate_mode(const Properties* own) {
  if (own->rate_mode != RATE_DEFAULT) return own->rate_mode;
  if (own->rate.bitrate > 0) return RATE_VARIABLE_BITRATE;
  return own->rate.quality >= 0 ? RATE_CONSTANT_QUALITY : RATE_CONSTANT_QP;
}

static gboolean has_bitrate(RateMode mode) {
  return mode == RATE_CONSTANT_BITRATE || mode == RATE_VARIABLE_BITRATE;
}

static const char* name_of(RateMode mode) {
  static const char* const names[] = {"default", "constqp", "cbr", "vbr", "const-quality"};
  return names[mode];
}

/* Options that have a property, come from the caps, or give what the element does not pass on. */
static const struct {
  const char *option, *instead;
} elsewhere[] = {
    {"qp", "set qp-const"},
    {"crf", "set const-quality"},
    {"bitrate", "set bitrate"},
    {"maxrate", "set max-bitrate"},
    {"bufsize", "set vbv-buffer-size"},
    {"cbr", "set rc-mode"},
    {"lookahead", "set rc-lookahead"},
    {"preset", "set preset"},
    {"slices", "set num-slices"},
    {"gop", "set gop-size"},
    {"backend", "set backend"},
    {"device", "set cuda-device-id"},
    {"batch", "set batch"},
    {"headers", "set repeat-sequence-header"},
    {"profile", "put it into the caps after the element, as video/x-h264,profile=main"},
    {"level", "put it into the caps after the element, as video/x-h264,level=(string)4.1"},
    {"size", "the caps say it"},
    {"fps", "the caps say it"},
    {"sar", "the caps say it"},
    {"range", "the caps say it"},
    {"colorprim", "the caps say it"},
    {"transfer", "the caps say it"},
    {"colormatrix", "the caps say it"},
    {"chromaloc", "the caps say it"},
    {"input-format", "the caps say it"},
    {"time-base", "the caps say it"},
    {"fixed-frame-rate", "the caps say it"},
    {"reconstruction", "the element has no use for it"},
    {"edge-maps", "the element has no use for it"},
    {"device-output", "the element has no use for it"},
};

/* Calls `take` with the name and the value, which may be null, of each option until it returns a string. */
typedef gchar* (*TakeOption)(const char* name, const char* value, gpointer data);
static gchar* each_option(const gchar* text, TakeOption take, gpointer data) {
  gchar* taken = NULL;
  gchar** const parts = g_strsplit(text != NULL ? text : "", ":", -1);
  for (gchar** part = parts; *part != NULL && taken == NULL; ++part) {
    gchar* const value = strchr(*part, '=');
    if (value != NULL) *value = 0;
    if (**part != 0) taken = take(*part, value != NULL ? value + 1 : NULL, data);
  }
  g_strfreev(parts);
  return taken;
}

static gchar* option_problem(const char* name, const char* value, gpointer avc) {
  (void)value;
  for (guint i = 0; i < G_N_ELEMENTS(elsewhere); ++i) {
    if (strcmp(name, elsewhere[i].option) == 0)
      return g_strdup_printf("option-string does not take \"%s\" (%s)", name, elsewhere[i].instead);
  }
  if (*(const gboolean*)avc && strcmp(name, "frame-bytes") == 0) {
    return g_strdup(
        "frame-bytes makes filler data, which stream-format=avc must not hold (use byte-stream, as for "
        "MPEG-TS and RTP)");
  }
  return NULL;
}

gchar* properties_problem(const Properties* own, gboolean avc) {
  const RateMode mode = properties_rate_mode(own);
  const char* const name = name_of(mode);
  if (has_bitrate(mode) && own->rate.bitrate == 0)
    return g_strdup_printf("rc-mode=%s needs a bitrate (set bitrate, in kbit a second)", name);
  if (!has_bitrate(mode) && own->rate.bitrate > 0)
    return g_strdup_printf("bitrate has no meaning with rc-mode=%s (use rc-mode=vbr or cbr, or leave it out)",
                           name);
  if (mode != RATE_CONSTANT_QUALITY && own->rate.quality >= 0) {
    return g_strdup_printf(
        "const-quality has no meaning with rc-mode=%s (use rc-mode=const-quality and no bitrate, "
        "or leave it out)",
        name);
  }
  if (mode == RATE_CONSTANT_QUALITY && own->rate.quality < 0)
    return g_strdup("rc-mode=const-quality needs a quality (set const-quality, as 23)");
  if (mode != RATE_CONSTANT_QP && own->rate.qp >= 0)
    return g_strdup_printf("qp-const has no meaning with rc-mode=%s (use rc-mode=constqp, or leave it out)",
                           name);
  if (!has_bitrate(mode) && own->lookahead > 0)
    return g_strdup_printf("rc-lookahead has no meaning with rc-mode=%s (use vbr or cbr, or leave it out)",
                           name);
  if (own->zero_latency && own->lookahead > 0)
    return g_strdup("zerolatency and rc-lookahead contradict each other (use one of them)");
  if (own->zero_latency && own->batch > 1)
    return g_strdup("zerolatency and batch contradict each other (use one of them)");
  if (avc && mode == RATE_CONSTANT_BITRATE) {
    return g_strdup(
        "rc-mode=cbr makes filler data, which stream-format=avc must not hold (use rc-mode=vbr, or "
        "byte-stream, as for MPEG-TS and RTP)");
  }
  return each_option(own->others, option_problem, &avc);
}

static gchar* apply_option(const char* name, const char* value, gpointer options) {
  options_set(options, name, value);
  return NULL;
}

static const char* decimal(gdouble value, gchar text[G_ASCII_DTOSTR_BUF_SIZE]) {
  return g_ascii_formatd(text, G_ASCII_DTOSTR_BUF_SIZE, "%.6f", value); /* in every locale with a point */
}

enum { kQpWithoutProperty = 27 };

static gint qp_of(const Rate* rate) {
  return rate->qp >= 0 ? rate->qp : kQpWithoutProperty;
}

void properties_apply(const Properties* own, Options* options) {
  static const char* const presets[] = {"fast", "balanced", "best"};
  static const char* const backends[] = {"auto", "cuda", "cpu"};
  const RateMode mode = properties_rate_mode(own);
  gchar text[G_ASCII_DTOSTR_BUF_SIZE];
  if (mode == RATE_CONSTANT_QP) options_set_int(options, "qp", qp_of(&own->rate));
  if (mode == RATE_CONSTANT_QUALITY) options_set(options, "crf", decimal(own->rate.quality, text));
  if (own->rate.bitrate > 0) options_set_int(options, "bitrate", own->rate.bitrate);
  if (own->rate.max_bitrate > 0) options_set_int(options, "maxrate", own->rate.max_bitrate);
  if (own->rate.buffer_kbit > 0) options_set_int(options, "bufsize", own->rate.buffer_kbit);
  if (mode == RATE_CONSTANT_BITRATE) options_set(options, "cbr", "on");
  options_set(options, "preset", presets[own->preset]);
  options_set_int(options, "slices", own->slices);
  options_set_int(options, "gop", own->gop < 0 ? 0 : MAX(own->gop, 1));
  options_set_int(options, "batch", own->zero_latency ? 1 : own->batch);
  if (own->zero_latency || own->lookahead >= 0)
    options_set_int(options, "lookahead", own->zero_latency ? 0 : own->lookahead);
  /* A device that is named is wanted: with it "auto" would not fall back to the processor. */
  if (own->device > 0) options_set_int(options, "device", own->device);
  options_set(options, "backend", backends[own->backend]);
  each_option(own->others, apply_option, options);
}

gsize rate_changes(const Rate* from, const Rate* to, RateChanges* changes) {
  gsize count = 0;
  const struct {
    const char* name;
    gint64 before, after;
  } numbers[] = {{"bitrate", from->bitrate, to->bitrate},
                 {"maxrate", from->max_bitrate, to->max_bitrate},
                 {"bufsize", from->buffer_kbit, to->buffer_kbit},
                 {"qp", qp_of(from), qp_of(to)}};
  for (guint i = 0; i < G_N_ELEMENTS(numbers); ++i) {
    if (numbers[i].before == numbers[i].after) continue;
    g_snprintf(changes->values[count], sizeof changes->values[count], "%" G_GINT64_FORMAT, numbers[i].after);
    changes->settings[count] = (cu264_setting){numbers[i].name, changes->values[count]};
    ++count;
  }
  if (from->quality != to->quality) {
    decimal(to->quality, changes->values[count]);
    changes->settings[count] = (cu264_setting){"crf", changes->values[count]};
    ++count;
  }
  return count;
}

guint properties_held_frames(const Properties* own, guint batch) {
  if (own->zero_latency) return 0;
  guint lookahead = 0;
  if (has_bitrate(properties_rate_mode(own)))
    lookahead = own->lookahead >= 0 ? (guint)own->lookahead : kDefaultLookahead;
  return lookahead + batch;
}
