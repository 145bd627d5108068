#include "raw_video.h"

typedef struct {
  GstVideoFormat format;
  cu264_format own;
  const char* name; /* of the option input-format */
} Format;

static const Format formats[] = {
    {GST_VIDEO_FORMAT_I420, CU264_FORMAT_I420, "i420"},
    {GST_VIDEO_FORMAT_YV12, CU264_FORMAT_I420, "i420"},
    {GST_VIDEO_FORMAT_NV12, CU264_FORMAT_NV12, "nv12"},
    {GST_VIDEO_FORMAT_GRAY8, CU264_FORMAT_GRAY8, "gray8"},
    {GST_VIDEO_FORMAT_RGB, CU264_FORMAT_RGB24, "rgb24"},
    {GST_VIDEO_FORMAT_BGR, CU264_FORMAT_BGR24, "bgr24"},
    {GST_VIDEO_FORMAT_RGBx, CU264_FORMAT_RGBA32, "rgba32"},
    {GST_VIDEO_FORMAT_RGBA, CU264_FORMAT_RGBA32, "rgba32"},
    {GST_VIDEO_FORMAT_BGRx, CU264_FORMAT_BGRA32, "bgra32"},
    {GST_VIDEO_FORMAT_BGRA, CU264_FORMAT_BGRA32, "bgra32"},
    {GST_VIDEO_FORMAT_GBR, CU264_FORMAT_RGB_PLANAR, "rgb-planar"},
    {GST_VIDEO_FORMAT_RGBP, CU264_FORMAT_RGB_PLANAR, "rgb-planar"},
    {GST_VIDEO_FORMAT_BGRP, CU264_FORMAT_RGB_PLANAR, "rgb-planar"},
};

/* The caps have no other formats than these. */
static const Format* find_format(GstVideoFormat format) {
  for (guint i = 0; i < G_N_ELEMENTS(formats); ++i)
    if (formats[i].format == format) return &formats[i];
  g_return_val_if_reached(&formats[0]);
}

/* A code point of H.273. 2 is unspecified; 0 and 3 are reserved, and the matrix 0 is that of RGB. */
static void set_code_point(Options* options, const char* option, guint value) {
  if (value != 0 && value != 2 && value != 3) options_set_int(options, option, value);
}

static void set_colours(const GstVideoColorimetry* colour, Options* options) {
  const guint primaries = gst_video_color_primaries_to_iso(colour->primaries);
  const guint transfer = gst_video_transfer_function_to_iso(colour->transfer);
  const guint matrix = gst_video_color_matrix_to_iso(colour->matrix);
  options_set(options, "range", colour->range == GST_VIDEO_COLOR_RANGE_0_255 ? "full" : "limited");
  set_code_point(options, "colorprim", primaries);
  set_code_point(options, "transfer", transfer);
  set_code_point(options, "colormatrix", matrix);
}

/* chroma_sample_loc_type of H.264 figure E-1, or -1. */
static int chroma_location(GstVideoChromaSite site) {
  switch (site) {
    case GST_VIDEO_CHROMA_SITE_MPEG2:
      return 0;
    case GST_VIDEO_CHROMA_SITE_JPEG:
      return 1;
    case GST_VIDEO_CHROMA_SITE_COSITED:
      return 2;
    case GST_VIDEO_CHROMA_SITE_V_COSITED:
      return 3;
    default:
      return -1;
  }
}

void raw_video_rate(const GstVideoInfo* info, int* num, int* den) {
  const gboolean known = info->fps_n > 0 && info->fps_d > 0; /* with 0/1 max-framerate, if the caps have it */
  *num = known ? info->fps_n : 25;
  *den = known ? info->fps_d : 1;
}

void raw_video_coded(const GstVideoInfo* info, GstVideoInfo* coded) {
  coded->colorimetry = info->colorimetry;
  coded->chroma_site = info->chroma_site;
  if (!GST_VIDEO_INFO_IS_RGB(info)) return;
  coded->colorimetry.matrix =
      info->height >= 720 ? GST_VIDEO_COLOR_MATRIX_BT709 : GST_VIDEO_COLOR_MATRIX_BT601;
  coded->colorimetry.range = GST_VIDEO_COLOR_RANGE_16_235;
  coded->chroma_site = GST_VIDEO_CHROMA_SITE_JPEG; /* the mean of 2x2 samples */
}

void raw_video_describe(const GstVideoInfo* info, Options* options) {
  int num, den;
  GstVideoInfo coded = *info;
  raw_video_rate(info, &num, &den);
  raw_video_coded(info, &coded);
  options_set_ratio(options, "size", info->width, 'x', info->height);
  options_set_ratio(options, "fps", num, '/', den);
  const gboolean varies = (info->flags & GST_VIDEO_FLAG_VARIABLE_FPS) != 0; /* framerate=0/1 */
  options_set(options, "fixed-frame-rate", varies ? "off" : "on");
  options_set(options, "input-format", find_format(GST_VIDEO_INFO_FORMAT(info))->name);
  options_set_ratio(options, "sar", info->par_n, ':', info->par_d);
  set_colours(&coded.colorimetry, options);
  const int location = chroma_location(coded.chroma_site);
  if (location >= 0 && !GST_VIDEO_INFO_IS_GRAY(info)) options_set_int(options, "chromaloc", location);
}

cu264_frame raw_video_frame(const GstVideoFrame* mapped) {
  const Format* const format = find_format(GST_VIDEO_FRAME_FORMAT(mapped));
  cu264_frame frame = {.struct_size = sizeof frame,
                       .format = format->own,
                       .memory = CU264_MEMORY_HOST,
                       .width = GST_VIDEO_FRAME_WIDTH(mapped),
                       .height = GST_VIDEO_FRAME_HEIGHT(mapped)};
  /* Components are Y, U, V or R, G, B in this order, wherever their planes are. */
  const gboolean planar = format->own == CU264_FORMAT_I420 || format->own == CU264_FORMAT_RGB_PLANAR;
  for (guint i = 0; i < GST_VIDEO_FRAME_N_PLANES(mapped); ++i) {
    frame.plane[i] = planar ? GST_VIDEO_FRAME_COMP_DATA(mapped, i) : GST_VIDEO_FRAME_PLANE_DATA(mapped, i);
    frame.pitch[i] =
        planar ? GST_VIDEO_FRAME_COMP_STRIDE(mapped, i) : GST_VIDEO_FRAME_PLANE_STRIDE(mapped, i);
  }
  return frame;
}
