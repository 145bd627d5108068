#include "properties.h"

#include <gst/gst.h>

enum {
  PROP_0,
  PROP_RATE_MODE,
  PROP_BITRATE,
  PROP_MAX_BITRATE,
  PROP_BUFFER,
  PROP_QP,
  PROP_QUALITY,
  PROP_PRESET,
  PROP_SLICES,
  PROP_GOP,
  PROP_ZERO_LATENCY,
  PROP_LOOKAHEAD,
  PROP_BATCH,
  PROP_DELIMITERS,
  PROP_REPEAT_HEADERS,
  PROP_DEVICE,
  PROP_BACKEND,
  PROP_OTHERS
};

enum { kMaxKbit = 60000000, kMaxGop = 100000 };

static const GEnumValue rate_modes[] = {
    {RATE_DEFAULT, "vbr with a bitrate, const-quality with a quality, else constqp", "default"},
    {RATE_CONSTANT_QP, "Constant quantiser (qp-const)", "constqp"},
    {RATE_CONSTANT_BITRATE, "Constant bitrate, by filler data where pictures need fewer bits", "cbr"},
    {RATE_VARIABLE_BITRATE, "Mean bitrate within a buffer", "vbr"},
    {RATE_CONSTANT_QUALITY, "Constant quality on x264's crf scale (const-quality)", "const-quality"},
    {0, NULL, NULL}};
static const GEnumValue presets[] = {{0, "Fastest", "fast"},
                                     {1, "Best three candidates by exact bits", "balanced"},
                                     {2, "Fewest bits", "best"},
                                     {0, NULL, NULL}};
static const GEnumValue backends[] = {{0, "CUDA where that works, else the processor", "auto"},
                                      {1, "A CUDA device", "cuda"},
                                      {2, "The processor", "cpu"},
                                      {0, NULL, NULL}};

static GType enum_type(const char* name, const GEnumValue* values) {
  const GType known = g_type_from_name(name);
  return known != 0 ? known : g_enum_register_static(name, values);
}

void properties_install(GObjectClass* object_class) {
  const GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY;
  const GParamFlags live = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING;
  const GType rate_mode = enum_type("GstCu264EncRCMode", rate_modes);
  const GType preset = enum_type("GstCu264EncPreset", presets);
  const GType backend = enum_type("GstCu264EncBackend", backends);
  const struct {
    guint id;
    GParamSpec* spec;
  } properties[] = {
      {PROP_RATE_MODE, g_param_spec_enum("rc-mode", "Rate control", "What decides about the size of pictures",
                                         rate_mode, RATE_DEFAULT, flags)},
      {PROP_BITRATE, g_param_spec_uint("bitrate", "Bitrate", "kbit a second, for cbr and vbr (0: none)", 0,
                                       kMaxKbit, 0, live)},
      {PROP_MAX_BITRATE,
       g_param_spec_uint("max-bitrate", "Largest bitrate",
                         "The rate that fills the buffer, in kbit a second (0: that of bitrate)", 0, kMaxKbit,
                         0, live)},
      {PROP_BUFFER, g_param_spec_uint("vbv-buffer-size", "Buffer",
                                      "Size of the buffer in kbit (0: one second)", 0, kMaxKbit, 0, live)},
      {PROP_QP, g_param_spec_int("qp-const", "QP", "Quantiser for constqp, 0 (best) to 51 (-1: 27)", -1, 51,
                                 -1, live)},
      {PROP_QUALITY,
       g_param_spec_double("const-quality", "Quality",
                           "Quality for const-quality on x264's crf scale, 0 (best) to 51 (-1: not set)", -1,
                           51, -1, live)},
      {PROP_PRESET, g_param_spec_enum("preset", "Preset", "How thoroughly modes and levels are searched",
                                      preset, 1, flags)},
      {PROP_SLICES, g_param_spec_uint("num-slices", "Slices", "Slices in a picture", 1, 512, 1, flags)},
      {PROP_GOP,
       g_param_spec_int("gop-size", "GOP size",
                        "Pictures from one key picture to the next (0 and 1: each is one, -1: only the first "
                        "and those that are asked for)",
                        -1, kMaxGop, 1, flags)},
      {PROP_ZERO_LATENCY,
       g_param_spec_boolean("zerolatency", "Zero latency", "Each picture is out before the next one is taken",
                            FALSE, flags)},
      {PROP_LOOKAHEAD,
       g_param_spec_int("rc-lookahead", "Look-ahead",
                        "Pictures after each one that cbr and vbr look at (-1: 40, or 0 with zerolatency)",
                        -1, 250, -1, flags)},
      {PROP_BATCH,
       g_param_spec_uint("batch", "Batch", "Pictures a CUDA device encodes together (0: as many as fill it)",
                         0, 1024, 0, flags)},
      {PROP_DELIMITERS,
       g_param_spec_boolean("aud", "AUD", "An access unit delimiter before each picture", FALSE, flags)},
      {PROP_REPEAT_HEADERS,
       g_param_spec_boolean("repeat-sequence-header", "Repeat headers",
                            "SPS and PPS before each key picture, not the first alone (byte-stream)", TRUE,
                            flags)},
      {PROP_DEVICE,
       g_param_spec_uint("cuda-device-id", "CUDA device", "Which CUDA device encodes", 0, 63, 0, flags)},
      {PROP_BACKEND, g_param_spec_enum("backend", "Backend", "What encodes", backend, 0, flags)},
      {PROP_OTHERS, g_param_spec_string("option-string", "Options",
                                        "Other options of cu264 encode, as aq=off:deblock=off", NULL, flags)},
  };
  for (guint i = 0; i < G_N_ELEMENTS(properties); ++i)
    g_object_class_install_property(object_class, properties[i].id, properties[i].spec);
}

void properties_init(Properties* properties) {
  *properties = (Properties){.rate = {.qp = -1, .quality = -1},
                             .preset = 1,
                             .slices = 1,
                             .gop = 1,
                             .lookahead = -1,
                             .repeat_headers = TRUE};
}

void properties_clear(Properties* properties) {
  g_clear_pointer(&properties->others, g_free);
}

Properties properties_copy(const Properties* from) {
  Properties copy = *from;
  copy.others = g_strdup(from->others);
  return copy;
}

gboolean properties_set(Properties* own, guint id, const GValue* value) {
  switch (id) {
    case PROP_RATE_MODE:
      own->rate_mode = (RateMode)g_value_get_enum(value);
      break;
    case PROP_BITRATE:
      own->rate.bitrate = g_value_get_uint(value);
      break;
    case PROP_MAX_BITRATE:
      own->rate.max_bitrate = g_value_get_uint(value);
      break;
    case PROP_BUFFER:
      own->rate.buffer_kbit = g_value_get_uint(value);
      break;
    case PROP_QP:
      own->rate.qp = g_value_get_int(value);
      break;
    case PROP_QUALITY:
      own->rate.quality = g_value_get_double(value);
      break;
    case PROP_PRESET:
      own->preset = g_value_get_enum(value);
      break;
    case PROP_SLICES:
      own->slices = g_value_get_uint(value);
      break;
    case PROP_GOP:
      own->gop = g_value_get_int(value);
      break;
    case PROP_ZERO_LATENCY:
      own->zero_latency = g_value_get_boolean(value);
      break;
    case PROP_LOOKAHEAD:
      own->lookahead = g_value_get_int(value);
      break;
    case PROP_BATCH:
      own->batch = g_value_get_uint(value);
      break;
    case PROP_DELIMITERS:
      own->delimiters = g_value_get_boolean(value);
      break;
    case PROP_REPEAT_HEADERS:
      own->repeat_headers = g_value_get_boolean(value);
      break;
    case PROP_DEVICE:
      own->device = g_value_get_uint(value);
      break;
    case PROP_BACKEND:
      own->backend = g_value_get_enum(value);
      break;
    case PROP_OTHERS:
      g_free(own->others);
      own->others = g_value_dup_string(value);
      break;
    default:
      return FALSE;
  }
  return TRUE;
}

gboolean properties_get(const Properties* own, guint id, GValue* value) {
  switch (id) {
    case PROP_RATE_MODE:
      g_value_set_enum(value, own->rate_mode);
      break;
    case PROP_BITRATE:
      g_value_set_uint(value, own->rate.bitrate);
      break;
    case PROP_MAX_BITRATE:
      g_value_set_uint(value, own->rate.max_bitrate);
      break;
    case PROP_BUFFER:
      g_value_set_uint(value, own->rate.buffer_kbit);
      break;
    case PROP_QP:
      g_value_set_int(value, own->rate.qp);
      break;
    case PROP_QUALITY:
      g_value_set_double(value, own->rate.quality);
      break;
    case PROP_PRESET:
      g_value_set_enum(value, own->preset);
      break;
    case PROP_SLICES:
      g_value_set_uint(value, own->slices);
      break;
    case PROP_GOP:
      g_value_set_int(value, own->gop);
      break;
    case PROP_ZERO_LATENCY:
      g_value_set_boolean(value, own->zero_latency);
      break;
    case PROP_LOOKAHEAD:
      g_value_set_int(value, own->lookahead);
      break;
    case PROP_BATCH:
      g_value_set_uint(value, own->batch);
      break;
    case PROP_DELIMITERS:
      g_value_set_boolean(value, own->delimiters);
      break;
    case PROP_REPEAT_HEADERS:
      g_value_set_boolean(value, own->repeat_headers);
      break;
    case PROP_DEVICE:
      g_value_set_uint(value, own->device);
      break;
    case PROP_BACKEND:
      g_value_set_enum(value, own->backend);
      break;
    case PROP_OTHERS:
      g_value_set_string(value, own->others);
      break;
    default:
      return FALSE;
  }
  return TRUE;
}
