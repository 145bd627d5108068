/* Access units of a byte stream (H.264 annex B) as downstream wants them: with more NAL units in front, or
 * each NAL unit after its length (ISO/IEC 14496-15). */
#ifndef CU264_INTEGRATIONS_GSTREAMER_ACCESS_UNIT_H
#define CU264_INTEGRATIONS_GSTREAMER_ACCESS_UNIT_H

#include <gst/gst.h>

/* The bytes of an access unit delimiter with its start code. */
#define ACCESS_UNIT_DELIMITER_SIZE 6
/* Which one: none, or that of a key picture or of a P picture. */
typedef enum { DELIMITER_NONE, DELIMITER_KEY, DELIMITER_P } Delimiter;

/* A new buffer with [a delimiter], [parameter sets] and the access unit. `parameter_sets` may be null. */
GstBuffer* access_unit_extended(const guint8* data, gsize size, Delimiter delimiter,
                                GstBuffer* parameter_sets);

/* A new buffer with [a delimiter] and the access unit's NAL units except parameter sets, each after its
 * length of four bytes. */
GstBuffer* access_unit_with_lengths(const guint8* data, gsize size, Delimiter delimiter);

/* The parameter sets before the first slice: a new buffer with start codes, which may be empty. */
GstBuffer* access_unit_parameter_sets(const guint8* data, gsize size);

/* The AVCDecoderConfigurationRecord of such parameter sets: a new buffer. */
GstBuffer* access_unit_codec_data(GstBuffer* parameter_sets);

/* profile_idc, constraint flags and level_idc of such parameter sets. */
void access_unit_profile(GstBuffer* parameter_sets, guint8 profile[3]);

#endif
