/* The element's properties: what each means to the library, and which go together. */
#ifndef CU264_INTEGRATIONS_GSTREAMER_PROPERTIES_H
#define CU264_INTEGRATIONS_GSTREAMER_PROPERTIES_H

#include <glib-object.h>

#include "library_options.h"

typedef enum {
  RATE_DEFAULT,
  RATE_CONSTANT_QP,
  RATE_CONSTANT_BITRATE,
  RATE_VARIABLE_BITRATE,
  RATE_CONSTANT_QUALITY
} RateMode;

/* Those that may change while pictures come. */
typedef struct {
  guint bitrate; /* kbit a second; 0: not set, as the next two */
  guint max_bitrate;
  guint buffer_kbit;
  gint qp;         /* -1: not set */
  gdouble quality; /* -1: not set */
} Rate;

typedef struct {
  RateMode rate_mode;
  Rate rate;
  gint preset;
  guint slices;
  gint gop; /* pictures; -1: without an end */
  gboolean zero_latency;
  gint lookahead; /* -1: the library's */
  guint batch;
  gboolean delimiters;
  gboolean repeat_headers;
  guint device;
  gint backend;
  gchar* others; /* null: none */
} Properties;

void properties_install(GObjectClass* object_class);
void properties_init(Properties* properties);
void properties_clear(Properties* properties);

/* The copy is to be cleared. */
Properties properties_copy(const Properties* from);

/* Returns FALSE for an unknown property. */
gboolean properties_set(Properties* properties, guint id, const GValue* value);
gboolean properties_get(const Properties* properties, guint id, GValue* value);

/* The mode that RATE_DEFAULT stands for, by the other properties. */
RateMode properties_rate_mode(const Properties* properties);

/* Says what is wrong with them together, in a new string, or returns null. `avc`: what they ask for has to
 * fit into stream-format=avc. */
gchar* properties_problem(const Properties* properties, gboolean avc);

/* Sets all that the properties say. */
void properties_apply(const Properties* properties, Options* options);

/* The differences for cu264_encoder_reconfigure. Returns how many there are. */
#define RATE_MOST_CHANGES 5
typedef struct {
  cu264_setting settings[RATE_MOST_CHANGES];
  gchar values[RATE_MOST_CHANGES][G_ASCII_DTOSTR_BUF_SIZE];
} RateChanges;
gsize rate_changes(const Rate* from, const Rate* to, RateChanges* changes);

/* How many frames an encoder holds that takes `batch` together. */
guint properties_held_frames(const Properties* properties, guint batch);

#endif
