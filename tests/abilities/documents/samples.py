"""Files as people send them, made when they are needed."""

import wave
import zipfile
from io import BytesIO

from PIL import Image


def picture(kind: str = "JPEG", width: int = 64, height: int = 48, **options: object) -> bytes:
    """Return a picture, red at its left and blue at its right."""
    image = Image.new("RGB", (width, height), "red")
    image.paste("blue", (width // 2, 0, width, height))
    out = BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def sideways(width: int = 64, height: int = 48) -> bytes:
    """Return a photo that lies on its side and tells where it was taken."""
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned right by 90 degrees
    exif[0x010F] = "Acme Camera"
    exif.get_ifd(0x8825).update({1: "N", 2: (48.0, 51.0, 29.0), 3: "E", 4: (2.0, 17.0, 40.0)})
    return picture("JPEG", width, height, exif=exif.tobytes())


def heic() -> bytes:
    """Return a picture as an iPhone makes it."""
    import pillow_heif

    out = BytesIO()
    pillow_heif.from_pillow(Image.new("RGB", (64, 48), "green")).save(out)
    return out.getvalue()


def pdf(pages: list[str]) -> bytes:
    """Return a PDF with a line of text on each page."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", ""]
    kids = []
    font = "<< /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >>"
    for text in pages:
        stream = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET"
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources {font} /Contents {len(objects)} 0 R >>"
        )
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>"
    out, places = b"%PDF-1.4\n", list[int]()
    for number, text in enumerate(objects, start=1):
        places.append(len(out))
        out += f"{number} 0 obj\n{text}\nendobj\n".encode()
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    head = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
    end = f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(out)}\n%%EOF"
    return out + (head + end).encode()


def silence(seconds: float = 0.5) -> bytes:
    """Return a recording in which nothing is heard."""
    out = BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(1)
        file.setframerate(8000)
        file.writeframes(b"\x80" * int(8000 * seconds))
    return out.getvalue()


def archive(**parts: str | bytes) -> bytes:
    """Return a zip; in the names of its parts two underscores stand for a slash and one for a dot."""
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in parts.items():
            file.writestr(name.replace("__", "/").replace("_", "."), content)
    return out.getvalue()


def docx(*paragraphs: str) -> bytes:
    """Return a Word document; a paragraph "\\f" begins a new page."""
    breaks = '<w:r><w:br w:type="page"/></w:r>'
    body = "".join(
        f"<w:p>{breaks if text == chr(12) else f'<w:r><w:t>{text}</w:t></w:r>'}</w:p>" for text in paragraphs
    )
    space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    return archive(word__document_xml=f'<w:document xmlns:w="{space}"><w:body>{body}</w:body></w:document>')


def xlsx(rows: list[list[str | float]]) -> bytes:
    """Return a workbook of one sheet; a number in the second column is a date."""
    cells = "".join(
        "<row>"
        + "".join(
            f'<c t="inlineStr"><is><t>{value}</t></is></c>'
            if isinstance(value, str)
            else f'<c s="{int(column == 1)}"><v>{value}</v></c>'
            for column, value in enumerate(row)
        )
        + "</row>"
        for row in rows
    )
    space = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    return archive(
        xl__workbook_xml=f'<workbook {space}><sheets><sheet name="Costs"/></sheets></workbook>',
        xl__styles_xml=f'<styleSheet {space}><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>',
        xl__worksheets__sheet1_xml=f"<worksheet {space}><sheetData>{cells}</sheetData></worksheet>",
    )
