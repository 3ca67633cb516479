/** Reads a buffer from its start; every method throws at the end of the buffer. */
export interface ByteReader {
  readByte(): number
  readBytes(length: number): Buffer
  /** Compact-u16: seven bits a byte, the lowest first; throws for longer forms than the shortest one. */
  readLength(): number
  /** What follows, without reading it. */
  rest(): Buffer
}

const continues = 0x80
const maxLength = 0xffff

export const createByteReader = (bytes: Buffer): ByteReader => {
  let offset = 0

  const readBytes = (length: number): Buffer => {
    if (offset + length > bytes.length) throw new RangeError('The bytes end too early')
    offset += length
    return bytes.subarray(offset - length, offset)
  }
  const readByte = (): number => readBytes(1).readUInt8(0)

  const readLength = (): number => {
    let value = 0
    for (let shift = 0; ; shift += 7) {
      const byte = readByte()
      value += (byte & ~continues) << shift
      const isTooLong = value > maxLength || shift > 14 || (byte === 0 && shift > 0)
      if (isTooLong) throw new RangeError('The length is not in its shortest form')
      if ((byte & continues) === 0) return value
    }
  }

  return { readByte, readBytes, readLength, rest: () => bytes.subarray(offset) }
}
