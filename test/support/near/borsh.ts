import { sha256 } from '@noble/hashes/sha2'
import { base58 } from '@scure/base'

/** As nodes write them in JSON. */
export type NearAction =
  | {
      readonly FunctionCall: {
        readonly method_name: string
        /** Base64. */
        readonly args: string
        readonly gas: number
        readonly deposit: string
      }
    }
  | { readonly Transfer: { readonly deposit: string } }
  | { readonly Delegate: { readonly delegate_action: DelegateAction; readonly signature: string } }

export interface DelegateAction {
  readonly sender_id: string
  readonly receiver_id: string
  readonly actions: readonly NearAction[]
  readonly nonce: number
  readonly max_block_height: number
  readonly public_key: string
}

export interface DecodedTransaction {
  readonly hash: string
  readonly signer: string
  readonly publicKey: string
  readonly nonce: bigint
  readonly receiver: string
  readonly blockHash: string
  readonly actions: readonly NearAction[]
  /** sha256 of the transaction: what is signed. */
  readonly digest: Uint8Array
  readonly signature: Uint8Array
  /** What the sender of each delegate action signed, in order. */
  readonly delegateDigests: readonly Uint8Array[]
}

const functionCall = 2
const transfer = 3
const delegate = 8

// 2^30 + 366, little endian (NEP-461).
const delegatePrefix = Uint8Array.of(0x6e, 0x01, 0x00, 0x40)

/** Decodes a signed transaction without a library; throws for anything but the actions that payments need. */
export const decodeSignedTransaction = (bytes: Uint8Array): DecodedTransaction => {
  const delegateDigests: Uint8Array[] = []
  let offset = 0
  const take = (length: number): Uint8Array => {
    const slice = bytes.slice(offset, offset + length)
    if (slice.length !== length) throw new Error('unexpected end')
    offset += length
    return slice
  }
  const takeInteger = (length: number): bigint =>
    take(length).reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n)
  const takeNumber = (length: number): number => Number(takeInteger(length))
  const takeBytes = (): Uint8Array => take(takeNumber(4))
  const takeText = (): string => new TextDecoder('utf-8', { fatal: true }).decode(takeBytes())
  const takeTyped = (length: number): string => {
    if (takeNumber(1) !== 0) throw new Error('only ed25519')
    return `ed25519:${base58.encode(take(length))}`
  }
  const takeList = <T>(takeOne: () => T): T[] => Array.from({ length: takeNumber(4) }, takeOne)

  const takeAction = (): NearAction => {
    const type = takeNumber(1)
    switch (type) {
      case functionCall:
        return {
          FunctionCall: {
            method_name: takeText(),
            args: Buffer.from(takeBytes()).toString('base64'),
            gas: takeNumber(8),
            deposit: `${takeInteger(16)}`,
          },
        }
      case transfer:
        return { Transfer: { deposit: `${takeInteger(16)}` } }
      case delegate: {
        const start = offset
        const delegate_action = {
          sender_id: takeText(),
          receiver_id: takeText(),
          actions: takeList(takeAction),
          nonce: takeNumber(8),
          max_block_height: takeNumber(8),
          public_key: takeTyped(32),
        }
        delegateDigests.push(sha256(Uint8Array.of(...delegatePrefix, ...bytes.slice(start, offset))))
        return { Delegate: { delegate_action, signature: takeTyped(64) } }
      }
      default:
        throw new Error(`action ${type} is not supported`)
    }
  }

  const fields = {
    signer: takeText(),
    publicKey: takeTyped(32),
    nonce: takeInteger(8),
    receiver: takeText(),
    blockHash: base58.encode(take(32)),
    actions: takeList(takeAction),
  }
  const digest = sha256(bytes.slice(0, offset))
  const signature = decodeTyped(takeTyped(64))
  if (offset !== bytes.length) throw new Error('trailing bytes')
  return { hash: base58.encode(digest), ...fields, digest, signature, delegateDigests }
}

/** Bytes of `ed25519:<base58>`. */
export const decodeTyped = (text: string): Uint8Array => base58.decode(text.replace(/^ed25519:/, ''))
