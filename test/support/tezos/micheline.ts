import { encode, type Prefix } from './base58.js'

export type Micheline =
  | { readonly int: string }
  | { readonly string: string }
  | { readonly bytes: string }
  | { readonly prim: string; readonly args?: readonly Micheline[] }
  | readonly Micheline[]

/** Reads the binary forms of operations and Micheline. */
export class BinaryReader {
  readonly bytes: Uint8Array
  offset = 0

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  isAtEnd(): boolean {
    return this.offset >= this.bytes.length
  }

  take(count: number): Uint8Array {
    const taken = this.bytes.slice(this.offset, this.offset + count)
    if (taken.length !== count) throw new Error('unexpected end of input')
    this.offset += count
    return taken
  }

  byte(): number {
    return this.take(1)[0] ?? 0
  }

  word(): number {
    return Buffer.from(this.take(4)).readUInt32BE()
  }

  /** Unsigned, seven bits a byte. */
  natural(): bigint {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.byte()
      value |= BigInt(byte & 0x7f) << shift
      if ((byte & 0x80) === 0) return value
    }
  }

  /** Signed: the first byte has the sign and six bits. */
  integer(): bigint {
    let byte = this.byte()
    const isNegative = (byte & 0x40) !== 0
    let value = BigInt(byte & 0x3f)
    for (let shift = 6n; (byte & 0x80) !== 0; shift += 7n) {
      byte = this.byte()
      value |= BigInt(byte & 0x7f) << shift
    }
    return isNegative ? -value : value
  }

  keyHash(): string {
    const prefix = (['tz1', 'tz2', 'tz3', 'tz4'] as const)[this.byte()]
    if (prefix === undefined) throw new Error('unknown kind of key hash')
    return encode(prefix, this.take(20))
  }

  destination(): string {
    if (this.byte() === 0) return this.keyHash()
    const contract = encode('KT1', this.take(20))
    this.take(1)
    return contract
  }

  micheline(): Micheline {
    const tag = this.byte()
    switch (tag) {
      case 0:
        return { int: String(this.integer()) }
      case 1:
        return { string: Buffer.from(this.take(this.word())).toString('utf8') }
      case 2:
        return this.sequence()
      case 10:
        return { bytes: Buffer.from(this.take(this.word())).toString('hex') }
      case 3:
        return { prim: this.primitive() }
      case 5:
        return { prim: this.primitive(), args: [this.micheline()] }
      case 7:
        return { prim: this.primitive(), args: [this.micheline(), this.micheline()] }
      case 9: {
        const prim = this.primitive()
        const args = this.sequence()
        this.take(this.word())
        return { prim, args }
      }
      default:
        throw new Error(`unknown Micheline tag ${tag}`)
    }
  }

  private sequence(): readonly Micheline[] {
    const end = this.word() + this.offset
    const items: Micheline[] = []
    while (this.offset < end) items.push(this.micheline())
    return items
  }

  private primitive(): string {
    const names: Readonly<Record<number, string>> = {
      3: 'False',
      5: 'Left',
      7: 'Pair',
      8: 'Right',
      10: 'True',
      11: 'Unit',
    }
    const code = this.byte()
    return names[code] ?? `primitive ${code}`
  }
}

const isSequence = (value: Micheline): value is readonly Micheline[] => Array.isArray(value)

const itemsOf = (value: Micheline | undefined): readonly Micheline[] => {
  if (value === undefined || !isSequence(value)) throw new Error('no list')
  return value
}

/** The parts of a right comb: nested pairs, one pair of several, or a sequence. */
export const partsOf = (value: Micheline | undefined): readonly Micheline[] => {
  if (value === undefined) throw new Error('no pair')
  if (isSequence(value)) return value
  if (!('prim' in value) || value.prim !== 'Pair') throw new Error('no pair')
  const args = [...(value.args ?? [])]
  const last = args.pop()
  if (last === undefined) throw new Error('an empty pair')
  return !isSequence(last) && 'prim' in last && last.prim === 'Pair'
    ? [...args, ...partsOf(last)]
    : [...args, last]
}

export const numberOf = (value: Micheline | undefined): bigint => {
  if (value === undefined || isSequence(value) || !('int' in value)) throw new Error('no number')
  return BigInt(value.int)
}

/** Readable, or 22 bytes: a tag and a hash. */
export const addressOf = (value: Micheline | undefined): string => {
  if (value === undefined || isSequence(value)) throw new Error('no address')
  if ('string' in value) return value.string
  if (!('bytes' in value)) throw new Error('no address')
  const bytes = Uint8Array.from(Buffer.from(value.bytes, 'hex'))
  const kinds: readonly Prefix[] = ['tz1', 'tz2', 'tz3', 'tz4']
  return bytes[0] === 0
    ? encode(kinds[bytes[1] ?? 0] ?? 'tz1', bytes.slice(2, 22))
    : encode('KT1', bytes.slice(1, 21))
}

interface TransferBatch {
  readonly from: string
  readonly transfers: readonly { readonly to: string; readonly tokenId: bigint; readonly amount: bigint }[]
}

/** The parameter of `transfer` of TZIP-12. */
export const readTransfers = (value: Micheline | undefined): readonly TransferBatch[] =>
  itemsOf(value).map((batch) => {
    const [from, transfers] = partsOf(batch)
    return {
      from: addressOf(from),
      transfers: itemsOf(transfers).map((transfer) => {
        const [to, tokenId, amount] = partsOf(transfer)
        return { to: addressOf(to), tokenId: numberOf(tokenId), amount: numberOf(amount) }
      }),
    }
  })
