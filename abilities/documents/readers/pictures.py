"""A picture, turned upright, without its metadata, and scaled to the size that models take."""

from io import BytesIO
from typing import Any

from core.children.child_job import Unreadable

SIDE = 1568
"""Pixels of the longer side: models scale larger pictures down themselves."""
MAX_PIXELS = 50_000_000
MAX_JPEG_PIXELS = 220_000_000
"""A JPEG can be decoded at an eighth of its size."""
_FORMATS = ("JPEG", "PNG", "GIF", "WEBP", "BMP", "TIFF", "MPO")
_QUALITY = 85


def read(data: bytes) -> tuple[dict[str, Any], bytes]:
    """Return the size of the scaled picture, and its bytes as JPEG."""
    from PIL import Image, ImageOps

    Image.MAX_IMAGE_PIXELS = None  # checked below, before anything is decoded
    formats: tuple[str, ...] = _FORMATS
    if data[4:8] == b"ftyp":
        import pillow_heif

        pillow_heif.options.DECODE_THREADS = 1
        pillow_heif.register_heif_opener(thumbnails=False)
        formats = ("HEIF", "AVIF")
    image = Image.open(BytesIO(data), formats=formats)
    limit = MAX_JPEG_PIXELS if image.format in ("JPEG", "MPO") else MAX_PIXELS
    if image.width * image.height > limit:
        raise Unreadable("too_much")
    image.draft("RGB", (SIDE, SIDE))
    upright = ImageOps.exif_transpose(image)
    upright.thumbnail((SIDE, SIDE), reducing_gap=2.0)
    if upright.mode in ("RGBA", "LA", "PA") or "transparency" in upright.info:
        upright = upright.convert("RGBA")
        plain = Image.new("RGB", upright.size, "white")
        plain.paste(upright, mask=upright.getchannel("A"))
    else:
        plain = upright.convert("RGB")
    out = BytesIO()
    plain.save(out, "JPEG", quality=_QUALITY, optimize=True)  # without `exif`, no metadata is written
    return {"width": plain.width, "height": plain.height}, out.getvalue()
