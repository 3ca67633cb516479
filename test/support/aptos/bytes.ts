import { sha3_256 } from '@noble/hashes/sha3'

export const toHex = (bytes: Uint8Array): string => `0x${Buffer.from(bytes).toString('hex')}`

const fromHex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text.slice(2), 'hex'))

/** Long form. */
export const pad = (address: string): string => `0x${address.slice(2).toLowerCase().padStart(64, '0')}`

/** AIP-40: special addresses are short, all others long. */
export const toStandard = (address: string): string => {
  const digits = address.slice(2).replace(/^0+/, '')
  return digits.length <= 1 ? `0x${digits || '0'}` : pad(address)
}

export const hashOf = (...parts: readonly (Uint8Array | string)[]): Uint8Array =>
  sha3_256(Uint8Array.from(Buffer.concat(parts.map((part) => Buffer.from(part)))))

/** `object::create_user_derived_object_address`. */
export const primaryStoreOf = (owner: string, metadata: string): string =>
  toHex(hashOf(fromHex(pad(owner)), fromHex(pad(metadata)), Uint8Array.of(0xfc)))

/** Reads BCS. */
export class BcsReader {
  readonly bytes: Uint8Array
  offset = 0

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  take(count: number): Uint8Array {
    const taken = this.bytes.slice(this.offset, this.offset + count)
    if (taken.length !== count) throw new Error('unexpected end of input')
    this.offset += count
    return taken
  }

  unsigned(count: number): bigint {
    return this.take(count).reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n)
  }

  length(): number {
    let value = 0
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = Number(this.unsigned(1))
      value += (byte & 0x7f) * 2 ** shift
      if ((byte & 0x80) === 0) return value
    }
    throw new Error('ULEB128 overflows 32 bits')
  }

  list<Item>(read: () => Item): readonly Item[] {
    return Array.from({ length: this.length() }, read)
  }

  byteList(): Uint8Array {
    return this.take(this.length())
  }

  text(): string {
    return Buffer.from(this.byteList()).toString('utf8')
  }

  address(): string {
    return toHex(this.take(32))
  }

  typeTag(): string {
    const kind = this.length()
    if (kind === 6) return `vector<${this.typeTag()}>`
    if (kind !== 7) return ['bool', 'u8', 'u64', 'u128', 'address', 'signer'][kind] ?? `unknown ${kind}`
    const name = [toStandard(this.address()), this.text(), this.text()].join('::')
    const parameters = this.list(() => this.typeTag())
    return parameters.length === 0 ? name : `${name}<${parameters.join(', ')}>`
  }

  end(): void {
    if (this.offset !== this.bytes.length) throw new Error('remaining input')
  }
}
