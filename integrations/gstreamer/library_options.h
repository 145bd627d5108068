/* Options of the library, set one after the other. The first that is refused ends it: those after it do
 * nothing, and cu264_last_error() has the text. */
#ifndef CU264_INTEGRATIONS_GSTREAMER_LIBRARY_OPTIONS_H
#define CU264_INTEGRATIONS_GSTREAMER_LIBRARY_OPTIONS_H

#include <cu264/cu264.h>
#include <glib.h>

typedef struct {
  cu264_config* config;
  cu264_status status;
} Options;

static inline void options_set(Options* options, const char* name, const char* value) {
  if (options->status == CU264_OK) options->status = cu264_config_set(options->config, name, value);
}

static inline void options_set_int(Options* options, const char* name, gint64 value) {
  char text[32];
  g_snprintf(text, sizeof text, "%" G_GINT64_FORMAT, value);
  options_set(options, name, text);
}

static inline void options_set_ratio(Options* options, const char* name, int num, char separator, int den) {
  char text[32];
  g_snprintf(text, sizeof text, "%d%c%d", num, separator, den);
  options_set(options, name, text);
}

#endif
