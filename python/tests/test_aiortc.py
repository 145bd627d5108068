"""samples/adapters/aiortc_track.py: aiortc's own sender packs the track's packets, and its decoder takes them."""

import asyncio
import types

import numpy as np
import pytest

import cu264
from conftest import adapter_of, moving_pictures

pytest.importorskip("aiortc", reason="aiortc is not installed")

from aiortc import RTCRtpSender  # noqa: E402
from aiortc.codecs import depayload, get_decoder  # noqa: E402
from aiortc.jitterbuffer import JitterFrame  # noqa: E402
from aiortc.mediastreams import MediaStreamError  # noqa: E402
from aiortc.rtp import RTCP_PSFB_APP, RtcpPsfbPacket, pack_remb_fci  # noqa: E402


@pytest.fixture(scope="module")
def adapter():
    return adapter_of("aiortc_track")


async def each(pictures):
    for picture in pictures:
        yield picture


def sender_of(track):
    """A sender whose packets go nowhere."""
    return RTCRtpSender(track, types.SimpleNamespace(state="new"))


def codec_of(adapter):
    return next(codec for codec in adapter.h264_codecs() if codec.mimeType == "video/H264")


def test_packets_go_through_aiortc(adapter):
    pictures = moving_pictures(12, 120, 160)
    codec = codec_of(adapter)

    async def run():
        track = adapter.EncodedTrack(each(pictures), 25, bitrate=2_000_000)
        sender, decoder, decoded = sender_of(track), get_decoder(codec), []
        for number in range(12):
            frame = await sender._next_encoded_frame(codec)
            assert frame.timestamp == 3600 * number and max(map(len, frame.payloads)) <= 1300
            data = b"".join(depayload(codec, payload) for payload in frame.payloads)
            decoded += decoder.decode(JitterFrame(data=data, timestamp=frame.timestamp))
        with pytest.raises(MediaStreamError):
            await track.recv()
        assert track.readyState == "ended"
        return decoded

    decoded = asyncio.run(run())
    assert [frame.pts for frame in decoded] == [3600 * number for number in range(len(decoded))] and len(decoded) >= 11
    for picture, frame in zip(pictures, decoded):
        assert np.abs(frame.to_ndarray(format="rgb24").astype(int) - picture).mean() < 8


def test_the_packets_are_those_of_cu264(adapter):
    pictures = moving_pictures(6, 64, 96)

    async def run():
        track = adapter.EncodedTrack(each(pictures), 30, bitrate=800_000, preset="fast")
        return [bytes(await track.recv()) for _ in pictures]

    own = cu264.StreamEncoder(30, container="h264", profile="baseline", batch=1, bitrate=800_000, preset="fast")
    assert asyncio.run(run()) == [own.encode(picture) for picture in pictures]


def test_the_bitrate_follows_the_receiver(adapter):
    noise = np.random.default_rng(3).integers(0, 256, (240, 90, 120, 3), dtype=np.uint8)
    codec = codec_of(adapter)

    async def run():
        track = adapter.EncodedTrack(each(noise), 25, bitrate=2_000_000)
        sender, sizes = sender_of(track), []
        track.follow(sender)
        for number in range(240):
            if number in (80, 160):
                fci = pack_remb_fci(600_000 if number == 80 else 2_500_000, [sender._ssrc])
                await sender._handle_rtcp_packet(RtcpPsfbPacket(fmt=RTCP_PSFB_APP, ssrc=1, media_ssrc=0, fci=fci))
            sizes.append(sum(map(len, (await sender._next_encoded_frame(codec)).payloads)))
        return sizes, track.bitrate

    sizes, bitrate = asyncio.run(run())
    assert abs(bitrate - 2_500_000) < 25_000
    kilobits = [8 * sum(sizes[first : first + 50]) / 2000 for first in (30, 110, 190)]
    assert kilobits[1] < 700 and kilobits[1] < kilobits[0] / 2 and kilobits[2] > 2 * kilobits[1]
