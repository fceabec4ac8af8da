// Opus out of the WebM that a browser records, put into the Ogg that voice notes are sent in. RFC 3533, RFC 7845, matroska.org.

const SEGMENT = 0x18538067;
const CLUSTER = 0x1f43b675;
const TRACKS = 0x1654ae6b;
const TRACK = 0xae;
const CODEC_PRIVATE = 0x63a2;
const SIMPLE_BLOCK = 0xa3;
const OPENED = new Set([SEGMENT, CLUSTER, TRACKS, TRACK]);
const RATE = 48_000;
// Samples of a packet's frame at 48 kHz, by the number in its first byte: RFC 6716, table 2.
const FRAMES = [...Array(12).keys()].map((n) => [480, 960, 1920, 2880][n % 4]).concat([480, 960, 480, 960], [...Array(16).keys()].map((n) => [120, 240, 480, 960][n % 4]));
const CRC = Uint32Array.from({ length: 256 }, (_, n) => {
  let rest = n << 24;
  for (let bit = 0; bit < 8; bit += 1) rest = rest & 0x80000000 ? (rest << 1) ^ 0x04c11db7 : rest << 1;
  return rest >>> 0;
});

// Return {blob, seconds}. Throws for what is no WebM with Opus.
export async function oggOf(webm) {
  const { head, packets } = read(new Uint8Array(await webm.arrayBuffer()));
  if (!head || !packets.length) throw new Error("Nothing was recorded.");
  const pages = [page(0, 0, 2, [head]), page(1, 0, 0, [tags()])];
  let samples = 0;
  for (const [index, packet] of packets.entries()) {
    samples += lengthOf(packet);
    pages.push(page(index + 2, samples, index === packets.length - 1 ? 4 : 0, [packet]));
  }
  return { blob: new Blob(pages, { type: "audio/ogg" }), seconds: samples / RATE };
}

function read(bytes) {
  const found = { head: null, packets: [] };
  let at = 0;
  while (at < bytes.length) {
    const id = number(bytes, at, true);
    const size = number(bytes, id.end, false);
    at = size.end;
    if (OPENED.has(id.value)) continue; // what is inside follows; its size may not be known
    const content = bytes.subarray(at, at + size.value);
    if (id.value === CODEC_PRIVATE) found.head ??= content;
    // A track's number of one byte, two of time, one of flags, and then the packet.
    if (id.value === SIMPLE_BLOCK) found.packets.push(content.subarray(4));
    at += size.value;
  }
  return found;
}

// A number of EBML: its first byte says by its leading zeros how long it is.
function number(bytes, at, keepsMarker) {
  const length = Math.clz32(bytes[at]) - 23;
  let value = keepsMarker ? bytes[at] : bytes[at] & (0xff >> length);
  for (let index = 1; index < length; index += 1) value = value * 256 + bytes[at + index];
  return { value, end: at + length };
}

function lengthOf(packet) {
  const count = [1, 2, 2, packet[1] & 63][packet[0] & 3];
  return FRAMES[packet[0] >> 3] * count;
}

function tags() {
  const vendor = new TextEncoder().encode("simulator");
  const made = new Uint8Array(16 + vendor.length);
  made.set(new TextEncoder().encode("OpusTags"));
  new DataView(made.buffer).setUint32(8, vendor.length, true);
  made.set(vendor, 12);
  return made;
}

function page(sequence, samples, flags, packets) {
  const lacing = packets.flatMap((packet) => [...Array(Math.floor(packet.length / 255)).fill(255), packet.length % 255]);
  const made = new Uint8Array(27 + lacing.length + packets.reduce((sum, packet) => sum + packet.length, 0));
  const view = new DataView(made.buffer);
  made.set(new TextEncoder().encode("OggS"));
  made[5] = flags;
  view.setBigUint64(6, BigInt(samples), true);
  view.setUint32(14, 1, true);
  view.setUint32(18, sequence, true);
  made[26] = lacing.length;
  made.set(lacing, 27);
  let at = 27 + lacing.length;
  for (const packet of packets) {
    made.set(packet, at);
    at += packet.length;
  }
  view.setUint32(22, made.reduce((sum, byte) => ((sum << 8) ^ CRC[(sum >>> 24) ^ byte]) >>> 0, 0), true);
  return made;
}
