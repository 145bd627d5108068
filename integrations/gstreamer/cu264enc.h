/* cu264enc: a GStreamer element that encodes raw video to H.264 with cu264. */
#ifndef CU264_INTEGRATIONS_GSTREAMER_CU264ENC_H
#define CU264_INTEGRATIONS_GSTREAMER_CU264ENC_H

#include <gst/gst.h>

G_BEGIN_DECLS

GST_ELEMENT_REGISTER_DECLARE(cu264enc)

G_END_DECLS

#endif
