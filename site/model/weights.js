// Reads a safetensors file: eight bytes of length, a JSON header, then the numbers of every tensor.

const READERS = {
  F32: (bytes) => new Float32Array(bytes),
  F16: (bytes) => Float32Array.from(new Uint16Array(bytes), fromHalf),
};

// The value of a 16-bit float: a sign, five bits of exponent, ten bits of fraction.
function fromHalf(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

// Name -> {shape, data}, with data as Float32Array whatever the file holds.
export function readSafetensors(buffer) {
  const length = Number(new DataView(buffer).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
  delete header.__metadata__;
  const tensors = {};
  for (const [
    name,
    {
      dtype,
      shape,
      data_offsets: [start, end],
    },
  ] of Object.entries(header)) {
    if (!(dtype in READERS)) throw new Error(`${name} has numbers of the type ${dtype}, which this page cannot read`);
    tensors[name] = { shape, data: READERS[dtype](buffer.slice(8 + length + start, 8 + length + end)) };
  }
  return tensors;
}
