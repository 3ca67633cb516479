import { ed25519 } from '@noble/curves/ed25519'
import { blake, encode } from './base58.js'
import { BinaryReader, type Micheline } from './micheline.js'

export interface Parameters {
  readonly entrypoint: string
  readonly value: Micheline
}

export interface Content {
  readonly kind: 'reveal' | 'transaction'
  readonly source: string
  readonly fee: string
  readonly counter: string
  readonly gas_limit: string
  readonly storage_limit: string
  readonly publicKey?: Uint8Array
  readonly amount?: string
  readonly destination?: string
  readonly parameters?: Parameters
}

export interface DecodedOperation {
  readonly hash: string
  readonly branch: string
  readonly contents: readonly Content[]
  readonly signature: string
  isSignedBy(publicKey: Uint8Array): boolean
}

const signatureLength = 64
const genericOperation = 3
const reveal = 107
const transaction = 108
const namedEntrypoint = 255

const readContent = (reader: BinaryReader): Content => {
  const kind = reader.byte()
  if (kind !== reveal && kind !== transaction) throw new Error(`unknown kind of operation ${kind}`)
  const shared = {
    source: reader.keyHash(),
    fee: String(reader.natural()),
    counter: String(reader.natural()),
    gas_limit: String(reader.natural()),
    storage_limit: String(reader.natural()),
  }
  if (kind === reveal) {
    if (reader.byte() !== 0) throw new Error('only Ed25519 keys are known here')
    const publicKey = reader.take(32)
    if (reader.byte() !== 0) reader.take(reader.word())
    return { kind: 'reveal', ...shared, publicKey }
  }
  const amount = String(reader.natural())
  const destination = reader.destination()
  const hasParameters = reader.byte() !== 0
  return {
    kind: 'transaction',
    ...shared,
    amount,
    destination,
    ...(hasParameters ? { parameters: readParameters(reader) } : {}),
  }
}

const readParameters = (reader: BinaryReader): Parameters => {
  const entrypoint =
    reader.byte() === namedEntrypoint ? Buffer.from(reader.take(reader.byte())).toString('utf8') : 'default'
  const end = reader.word() + reader.offset
  const value = reader.micheline()
  if (reader.offset !== end) throw new Error('the parameter has another length')
  return { entrypoint, value }
}

/** Decodes a signed operation group of reveals and transactions. */
export const decodeOperation = (hex: string): DecodedOperation => {
  const signed = Uint8Array.from(Buffer.from(hex, 'hex'))
  const unsigned = signed.slice(0, -signatureLength)
  const signature = signed.slice(-signatureLength)
  const reader = new BinaryReader(unsigned)
  const branch = encode('block', reader.take(32))
  const contents: Content[] = []
  while (!reader.isAtEnd()) contents.push(readContent(reader))
  return {
    hash: encode('operation', blake(signed)),
    branch,
    contents,
    signature: encode('edsig', signature),
    isSignedBy: (publicKey) =>
      ed25519.verify(signature, blake(Uint8Array.of(genericOperation, ...unsigned)), publicKey),
  }
}
