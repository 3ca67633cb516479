import { secp256k1 } from '@noble/curves/secp256k1'
import { keccak_256 } from '@noble/hashes/sha3'
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils'
import type { Signer } from './signer.js'
import type { TypedData } from './typedData.js'

/** A new key in the memory of this page; it cannot be read from what is returned. */
export const createThrowAwayKey = (): Signer => {
  const key = secp256k1.utils.randomPrivateKey()
  const point = secp256k1.getPublicKey(key, false)
  return {
    kind: 'key',
    address: writeAddress(keccak_256(point.subarray(1)).subarray(12)),
    sign: async (typedData) => {
      const signature = secp256k1.sign(hashTypedData(typedData), key)
      return `0x${bytesToHex(signature.toCompactRawBytes())}${signature.recovery === 1 ? '1c' : '1b'}`
    },
  }
}

/** With the checksum of EIP-55. */
const writeAddress = (bytes: Uint8Array): string => {
  const digits = bytesToHex(bytes)
  const checksum = bytesToHex(keccak_256(utf8ToBytes(digits)))
  const cased = [...digits].map((digit, at) =>
    Number.parseInt(checksum[at] ?? '0', 16) >= 8 ? digit.toUpperCase() : digit,
  )
  return `0x${cased.join('')}`
}

/** EIP-712, for structures without nested ones. */
const hashTypedData = ({ types, primaryType, domain, message }: TypedData): Uint8Array =>
  keccak_256(
    concatBytes(
      Uint8Array.of(0x19, 0x01),
      hashStruct(types, 'EIP712Domain', domain),
      hashStruct(types, primaryType, message),
    ),
  )

const hashStruct = (types: TypedData['types'], name: string, values: object): Uint8Array => {
  const fields = types[name] ?? []
  const given = new Map<string, unknown>(Object.entries(values))
  const signature = `${name}(${fields.map((field) => `${field.type} ${field.name}`).join(',')})`
  const words = fields.map((field) => encode(field.type, String(given.get(field.name))))
  return keccak_256(concatBytes(hashText(signature), ...words))
}

/** Addresses and hashes are numbers in hex digits. */
const encode = (type: string, value: string): Uint8Array =>
  type === 'string' ? hashText(value) : hexToBytes(BigInt(value).toString(16).padStart(64, '0'))

const hashText = (text: string): Uint8Array => keccak_256(utf8ToBytes(text))
