// What a text costs on SMS: GSM 03.38 septets, or UCS-2 for everything else. A test compares it with segments.py.

const BASIC = new Set(
  "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?" +
    "¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà",
);
const EXTENDED = new Set("\f^{}\\[~]|€");
const SMS = 0.0083;
const MMS_IN = 0.0165;

export function countSegments(text) {
  const letters = [...text];
  const odd = letters.filter((letter) => !BASIC.has(letter) && !EXTENDED.has(letter));
  if (odd.length) return { ...count("UCS-2", letters.map((letter) => letter.length), 70, 67), odd: [...new Set(odd)] };
  return { ...count("GSM-7", letters.map((letter) => (EXTENDED.has(letter) ? 2 : 1)), 160, 153), odd: [] };
}

// Give what the person's carrier charges for a text to us, in dollars.
export function price(segments, media) {
  return (media ? MMS_IN : SMS * segments).toFixed(4);
}

function count(encoding, widths, single, joined) {
  const units = widths.reduce((sum, width) => sum + width, 0);
  if (units <= single) return { encoding, units, segments: 1, left: single - units };
  let segments = 1;
  let used = 0;
  for (const width of widths) {
    if (used + width > joined) {
      segments += 1;
      used = 0;
    }
    used += width;
  }
  return { encoding, units, segments, left: joined - used };
}
