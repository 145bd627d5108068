/* GStreamer's description of raw video as the library's: formats, colours, rates, and single frames. */
#ifndef CU264_INTEGRATIONS_GSTREAMER_RAW_VIDEO_H
#define CU264_INTEGRATIONS_GSTREAMER_RAW_VIDEO_H

#include <cu264/cu264.h>
#include <gst/video/video.h>

#include "library_options.h"

/* The formats of GStreamer's that the library reads as they are. */
#define RAW_VIDEO_FORMATS "{ I420, YV12, NV12, GRAY8, RGB, BGR, RGBx, RGBA, BGRx, BGRA, GBR, RGBP, BGRP }"

/* Sets what the stream has to say of its pictures. Colours without a name in H.264 go unsaid. */
void raw_video_describe(const GstVideoInfo* info, Options* options);

/* The pictures a second that the encoder reckons with: those of the caps, else 25. */
void raw_video_rate(const GstVideoInfo* info, int* num, int* den);

/* Changes what the source's caps say to what the stream holds: RGB becomes YCbCr. */
void raw_video_coded(const GstVideoInfo* info, GstVideoInfo* coded);

/* A view of a mapped frame. */
cu264_frame raw_video_frame(const GstVideoFrame* mapped);

#endif
