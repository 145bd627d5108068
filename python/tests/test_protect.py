"""cu264.protect: finished streams, and streams while they are encoded."""

import os
import random
import re
import stat
import subprocess

import numpy as np
import pytest

import cu264
from cu264 import protect
from conftest import moving_pictures

KEY = protect.Key(bytes(range(32)))


@pytest.fixture(scope="module")
def textured():
    """Pictures with enough levels to carry a payload."""
    noise = np.random.default_rng(7).integers(0, 60, (12, 144, 176, 3))
    return np.clip(moving_pictures(12, 144, 176) * 0.7 + noise, 0, 255).astype(np.uint8)


@pytest.fixture(scope="module")
def stream(textured):
    return cu264.encode(textured, 25, container="h264", qp=24, cavlc=True)


@pytest.mark.parametrize("parts", ["signs", "signs,modes", ("signs", "modes", "codewords")])
@pytest.mark.parametrize("authenticate", [False, True])
def test_encrypted_and_back(stream, parts, authenticate):
    sealed = protect.encrypt(stream, KEY, parts, authenticate=authenticate, threads=2)
    assert sealed != stream and sealed != protect.encrypt(stream, KEY, parts, authenticate=authenticate)
    assert protect.decrypt(memoryview(sealed), KEY, require_authentication=authenticate) == stream


@pytest.mark.parametrize("profile", ["main", "high"])
@pytest.mark.parametrize("authenticate", [False, True])
def test_signs_of_cabac(textured, decode, profile, authenticate):
    stream = cu264.encode(textured, 25, container="h264", qp=24, profile=profile)
    for parts in ("signs", "signs,suffixes"):
        sealed = protect.encrypt(stream, KEY, parts, authenticate=authenticate)
        assert protect.decrypt(sealed, KEY, require_authentication=authenticate) == stream
        shown, hidden = (np.frombuffer(decode(data, ".264"), np.uint8).astype(float) for data in (stream, sealed))
        assert shown.shape == hidden.shape and 10 * np.log10(255**2 / np.mean((shown - hidden) ** 2)) < 18
    for parts in ("modes", "signs,codewords"):
        with pytest.raises(ValueError, match="CABAC.*modes and codewords need CAVLC"):
            protect.encrypt(stream, KEY, parts, authenticate=authenticate)
    with pytest.raises(ValueError, match="CABAC.*need CAVLC"):
        protect.embed_watermark(stream, KEY, b"x")


def test_what_is_refused(stream):
    sealed = protect.encrypt(stream, KEY, authenticate=True)
    for text, call in [
        ("key", lambda: protect.decrypt(sealed, protect.Key.random())),
        ("authentic", lambda: protect.decrypt(sealed[:2000] + bytes([sealed[2000] ^ 1]) + sealed[2001:], KEY)),
        ("authentic", lambda: protect.decrypt(sealed[:-100], KEY)),
        ("not encrypted", lambda: protect.decrypt(stream, KEY)),
        ("authenticat", lambda: protect.decrypt(protect.encrypt(stream, KEY), KEY, require_authentication=True)),
        ("signs, modes, codewords and suffixes", lambda: protect.encrypt(stream, KEY, "all")),
        ("nothing is to be encrypted", lambda: protect.encrypt(stream, KEY, ())),
        ("suffixes need CABAC", lambda: protect.encrypt(stream, KEY, "suffixes")),
        ("32 bytes", lambda: protect.Key(b"short")),
        ("64", lambda: protect.Key.from_hex("12")),
        ("t1-sign or t1-parity", lambda: protect.embed_watermark(stream, KEY, b"x", scheme="dct")),
        ("bytes", lambda: protect.embed_watermark(stream, KEY, bytes(100_000))),
        ("watermark", lambda: protect.extract_watermark(stream, KEY)),
    ]:
        with pytest.raises(ValueError, match=text):
            call()
    with pytest.raises(TypeError, match="protect.Key"):
        protect.encrypt(stream, b"0" * 32)
    with pytest.raises(TypeError, match="protect.Encryption"):
        cu264.Encoder(25, encryption=KEY)


def test_sealed_streams_that_somebody_changed(decode):
    """They are refused, or show the pictures that were sealed. CU264_SEALS says how many are tried."""
    noise = np.random.default_rng(3).integers(0, 256, (4, 32, 48, 3)).astype(np.uint8)
    plain = cu264.encode(noise, 25, container="h264", qp=40, cavlc=True, slices=2, headers="every")
    units = [b"\0\0\0\1" + unit for unit in re.split(b"\0*\0\0\1", protect.encrypt(plain, KEY, authenticate=True))[1:]]
    shown = decode(plain, ".264")
    slices = [place for place, unit in enumerate(units) if unit[4] & 31 == 5]
    delimiter = b"\0\0\0\1\x09\x10"
    for unit in (delimiter, *(next(unit for unit in units if unit[4] & 31 == kind) for kind in (7, 8))):
        with pytest.raises(ValueError):  # between two slices of a picture
            protect.decrypt(b"".join(units[:slices[1]] + [unit] + units[slices[1]:]), KEY, require_authentication=True)
    refused = 0
    count = int(os.environ.get("CU264_SEALS", "200"))
    for seed in range(count):
        draw = random.Random(seed)
        changed = list(units)
        for _ in range(draw.choice((1, 1, 2))):
            at, to = draw.randrange(len(changed)), draw.randrange(len(changed))
            kind = draw.randrange(5)
            if kind == 0:
                del changed[at]
            elif kind == 1:
                changed.insert(to, changed[at])
            elif kind == 2:
                changed.insert(to, changed.pop(at))
            elif kind == 3:
                changed.insert(to, draw.choice((delimiter, b"\0\0\1\x0c\xff\x80", b"\0\0\1\x0a")))
            else:
                flipped = bytearray(changed[at])
                flipped[draw.randrange(len(flipped))] ^= 1 << draw.randrange(8)
                changed[at] = bytes(flipped)
        try:
            opened = protect.decrypt(b"".join(changed), KEY, require_authentication=True)
        except ValueError:
            refused += 1
            continue
        assert decode(opened, ".264") == shown, seed
    assert 0 < refused < count


def test_packets_that_do_not_begin_where_access_units_do(stream):
    """The order of the units is right, but a picture's code stands in the packet of the picture before."""
    sealed = protect.encrypt(stream, KEY, authenticate=True)
    units = [b"\0\0\0\1" + unit for unit in re.split(b"\0*\0\0\1", sealed)[1:]]
    slices = [place for place, unit in enumerate(units) if unit[4] & 31 == 5]
    for cut, accepted in ((slices[1] + 1, True), (slices[1] + 2, False), (slices[2], False)):
        tool = cu264._core.decryptor(KEY, True)
        parts = [b"".join(units[:cut]), b"".join(units[cut:])]
        if accepted:
            assert tool.access_units(parts[0]) + tool.access_units(parts[1])
            tool.finish()
        else:
            with pytest.raises(ValueError, match="access unit|authentication"):
                tool.access_units(parts[0]) + tool.access_units(parts[1])


def test_encryption_while_encoding(textured, stream, decode):
    sealed = cu264.encode(textured, 25, container="h264", qp=24, encryption=protect.Encryption(KEY, "signs,modes"))
    plain = decode(stream, ".264")
    assert decode(sealed, ".264") != plain
    assert decode(protect.decrypt(sealed, KEY), ".264") == plain


def test_the_command_decrypts_files(textured, tmp_path, decode):
    command = os.environ.get("CU264")
    if not command:
        pytest.skip("CU264 does not name the command")
    KEY.write_new_file(str(tmp_path / "key"))
    assert stat.S_IMODE(os.stat(tmp_path / "key").st_mode) == 0o600
    with pytest.raises(OSError):
        KEY.write_new_file(str(tmp_path / "key"))
    cu264.write_video(tmp_path / "sealed.mp4", textured, 25, encryption=protect.Encryption(KEY))
    subprocess.run([command, "protect", "decrypt", tmp_path / "sealed.mp4", "-o", tmp_path / "plain.mp4", "--key-file",
                    tmp_path / "key"], check=True)
    assert decode(tmp_path / "plain.mp4") == decode(cu264.encode(textured, 25, cavlc=True))
    assert protect.decrypt(protect.encrypt(b"".join(p.data for p in cu264.Encoder(25, cavlc=True).packets(textured)), KEY),
                           protect.Key.from_file(str(tmp_path / "key")))


def test_watermarks(textured, stream):
    payload = b"copy 17"
    finished, encoding = protect.watermark_room(stream)
    assert finished > len(payload) and encoding > len(payload)
    marked = protect.embed_watermark(stream, KEY, payload)
    assert marked != stream and protect.extract_watermark(marked, KEY) == payload
    for scheme in ("t1-sign", "t1-parity"):
        mark = protect.Watermark(KEY, payload, scheme=scheme, density=16384)
        made = cu264.encode(textured, 25, container="h264", qp=24, watermark=mark)
        assert protect.extract_watermark(made, KEY) == payload
    both = cu264.encode(textured, 25, container="h264", qp=24, encryption=protect.Encryption(KEY),
                        watermark=protect.Watermark(KEY, payload, density=16384))
    assert protect.extract_watermark(protect.decrypt(both, KEY), KEY) == payload


def test_hidden_data(textured):
    stream = cu264.encode(textured, 25, container="h264", qp=8, cavlc=True)
    sealed = protect.hide(protect.encrypt(stream, KEY), KEY, b"note")
    assert protect.read_hidden(sealed, KEY) == b"note"
    assert protect.read_hidden(protect.decrypt(sealed, KEY), KEY) == b"note"


def test_keys_are_not_shown():
    digits = bytes(range(32)).hex()
    key = protect.Key.from_hex(digits)
    assert digits not in repr(key) and digits not in repr(protect.Encryption(key)) and "00" not in str(key)
