import { ed25519 } from '@noble/curves/ed25519'
import { BcsReader, hashOf, toHex, toStandard } from './bytes.js'

export interface DecodedTransaction {
  readonly hash: string
  readonly sender: string
  readonly sequenceNumber: bigint
  /** Such as `0x1::primary_fungible_store::transfer`. */
  readonly function: string
  readonly typeArguments: readonly string[]
  readonly arguments: readonly Uint8Array[]
  readonly maxGas: bigint
  readonly gasPrice: bigint
  readonly expiresAtSeconds: bigint
  readonly chainId: number
  readonly publicKey: Uint8Array
  readonly signature: Uint8Array
  /** Of the key that signed. */
  readonly authenticationKey: string
  readonly isSigned: boolean
}

const entryFunction = 2
const ed25519Authenticator = 0
const singleSender = 4

/** Decodes a BCS `SignedTransaction` with an entry function and one Ed25519 signature. */
export const decodeTransaction = (bytes: Uint8Array): DecodedTransaction => {
  const reader = new BcsReader(bytes)
  const sender = reader.address()
  const sequenceNumber = reader.unsigned(8)
  if (reader.length() !== entryFunction) throw new Error('the payload is no entry function')
  const name = [toStandard(reader.address()), reader.text(), reader.text()].join('::')
  const typeArguments = reader.list(() => reader.typeTag())
  const callArguments = reader.list(() => reader.byteList())
  const [maxGas, gasPrice, expiresAtSeconds] = [reader.unsigned(8), reader.unsigned(8), reader.unsigned(8)]
  const chainId = Number(reader.unsigned(1))
  const raw = bytes.slice(0, reader.offset)
  const authenticator = reader.length()
  const isPlain = authenticator === ed25519Authenticator
  if (!isPlain && (authenticator !== singleSender || reader.length() !== ed25519Authenticator)) {
    throw new Error('the authenticator is not of one Ed25519 key')
  }
  const publicKey = reader.byteList()
  const signature = reader.byteList()
  reader.end()
  const message = Uint8Array.from(Buffer.concat([hashOf('APTOS::RawTransaction'), raw]))
  return {
    hash: toHex(hashOf(hashOf('APTOS::Transaction'), Uint8Array.of(0), bytes)),
    sender,
    sequenceNumber,
    function: name,
    typeArguments,
    arguments: callArguments,
    maxGas,
    gasPrice,
    expiresAtSeconds,
    chainId,
    publicKey,
    signature,
    authenticationKey: toHex(hashOf(publicKey, Uint8Array.of(0))),
    isSigned: ed25519.verify(signature, message, publicKey),
  }
}
