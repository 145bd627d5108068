/* The plugin "cu264", with the element cu264enc. */
#include <gst/gst.h>

#include "cu264enc.h"

#define PACKAGE "cu264"

static gboolean plugin_init(GstPlugin* plugin) {
  return GST_ELEMENT_REGISTER(cu264enc, plugin);
}

GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, cu264,
                  "All-intra H.264 encoder on CUDA and on processors", plugin_init, CU264_GSTREAMER_VERSION,
                  "BSD", "cu264", "cu264")
