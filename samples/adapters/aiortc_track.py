"""Pictures as a track of aiortc, coded by cu264 instead of aiortc's own encoder.

    track = EncodedTrack(pictures(), fps=30)        # an asynchronous iterable of arrays
    sender = peer.addTrack(track)
    track.follow(sender)                            # the bitrate that the receiver has room for
    transceiver.setCodecPreferences(h264_codecs())  # before the offer or the answer

aiortc takes packets from a track as they are and only splits them for RTP. Every picture is a key picture, so viewers
come in at any of them, and what a receiver lost is gone with the next one.
"""
import asyncio
import fractions

import av
from aiortc import MediaStreamTrack, RTCRtpSender
from aiortc.mediastreams import MediaStreamError

import cu264

SMALLEST_CHANGE = 0.1  # of the bitrate, which is worth new parameter sets


def h264_codecs():
    """What a transceiver may negotiate with such a track."""
    return [codec for codec in RTCRtpSender.getCapabilities("video").codecs if codec.mimeType in ("video/H264", "video/rtx")]


class EncodedTrack(MediaStreamTrack):
    """A track of packets. `bitrate` is in bits a second; other settings are those of cu264.StreamEncoder."""

    kind = "video"

    def __init__(self, pictures, fps, bitrate=1_000_000, **settings):
        super().__init__()
        defaults = {"profile": "baseline", "batch": 1, "container": "h264"}  # what aiortc negotiates; no delay
        self._stream = cu264.StreamEncoder(fps, **{**defaults, **settings}, bitrate=bitrate)
        self._pictures = pictures.__aiter__()
        self._time_base = 1 / fractions.Fraction(fps)
        self._count = 0
        self._sender = None
        self._first_target = None
        self.bitrate = bitrate

    def follow(self, sender):
        """Has the bitrate follow what the receiver of an RTCRtpSender estimates."""
        self._sender = sender

    async def recv(self):
        if self.readyState != "live":
            raise MediaStreamError
        try:
            picture = await self._pictures.__anext__()
        except StopAsyncIteration:
            self.stop()
            raise MediaStreamError from None
        data = await asyncio.to_thread(self._encode, picture)
        packet = av.Packet(data)
        packet.pts = packet.dts = self._count
        packet.time_base = self._time_base
        self._count += 1
        return packet

    def _encode(self, picture):
        wanted = self._wanted_bitrate()
        if abs(wanted - self.bitrate) > SMALLEST_CHANGE * self.bitrate:
            self._stream.reconfigure(bitrate=wanted)
            self.bitrate = wanted
        return self._stream.encode(picture)

    def _wanted_bitrate(self):
        # aiortc gives the receiver's estimate (REMB) to its own encoder, and tells it nowhere else. What stands there
        # first is aiortc's default.
        encoder = getattr(self._sender, "_RTCRtpSender__encoder", None)
        target = getattr(encoder, "target_bitrate", None)
        if self._first_target is None:
            self._first_target = target
        return self.bitrate if target in (None, self._first_target) else target
