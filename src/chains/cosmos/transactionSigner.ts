import { LegacyAminoPubKey } from 'cosmjs-types/cosmos/crypto/multisig/keys'
import { MultiSignature } from 'cosmjs-types/cosmos/crypto/multisig/v1beta1/multisig'
import { PubKey } from 'cosmjs-types/cosmos/crypto/secp256k1/keys'
import { SignMode } from 'cosmjs-types/cosmos/tx/signing/v1beta1/signing'
import { AuthInfo, SignDoc, type SignerInfo, TxBody, TxRaw } from 'cosmjs-types/cosmos/tx/v1beta1/tx'
import { formatAddress, sha256 } from './addresses.js'
import { hashKey, isSignedByKey, writeAminoSignDocument } from './signature.js'

/** Part of a transaction by which one account signed it. */
interface TransactionSigner {
  /** `accountNumber` is that of the account on this chain. */
  check(accountNumber: bigint): SignatureState
}

/** `unsupported`: the chain may accept it, but what the key signed is not known. */
type SignatureState = 'signed' | 'forged' | 'unsupported'

interface Network {
  readonly chainId: string
  readonly prefix: string
}

type ModeInfo = NonNullable<SignerInfo['modeInfo']>

/**
 * Null unless the account is that of a key, or of a multi-signature key, which the transaction states. Keys are secp256k1,
 * and signed by SIGN_MODE_DIRECT or SIGN_MODE_LEGACY_AMINO_JSON.
 */
export const findTransactionSigner = (
  bytes: Uint8Array,
  account: string,
  { chainId, prefix }: Network,
): TransactionSigner | null => {
  const { bodyBytes, authInfoBytes, signatures } = TxRaw.decode(bytes)
  const authInfo = AuthInfo.decode(authInfoBytes)
  const at = authInfo.signerInfos.findIndex(({ publicKey }) => addressOf(publicKey, prefix) === account)
  const signer = authInfo.signerInfos[at]
  const signature = signatures[at]
  if (signer === undefined || signature === undefined) return null

  const writeMessage = (mode: SignMode | undefined, accountNumber: bigint): Uint8Array | null => {
    switch (mode) {
      case SignMode.SIGN_MODE_DIRECT:
        return SignDoc.encode({ bodyBytes, authInfoBytes, chainId, accountNumber }).finish()
      case SignMode.SIGN_MODE_LEGACY_AMINO_JSON: {
        const { sequence } = signer
        const signing = { chainId, accountNumber, sequence }
        const document = writeAminoSignDocument(TxBody.decode(bodyBytes), authInfo, signing)
        return document === null ? null : Buffer.from(document, 'utf8')
      }
      default:
        return null
    }
  }
  const checkPart = (part: Part, accountNumber: bigint): SignatureState => {
    const message = writeMessage(part.mode, accountNumber)
    if (message === null) return 'unsupported'
    if (isSignedByKey(part.key, message, part.signature)) return 'signed'
    const isJson = part.mode === SignMode.SIGN_MODE_LEGACY_AMINO_JSON
    return isJson && hasUnknownFields(bodyBytes, authInfo) ? 'unsupported' : 'forged'
  }
  return {
    check: (accountNumber) => {
      const parts = listParts(signer, signature) ?? []
      const states = parts.map((part) => checkPart(part, accountNumber))
      if (states.length === 0 || states.includes('forged')) return 'forged'
      return states.includes('unsupported') ? 'unsupported' : 'signed'
    },
  }
}

/** Whether the JSON that was signed can have more fields than `writeAminoSignDocument` writes. Versions of the SDK differ. */
const hasUnknownFields = (bodyBytes: Uint8Array, { tip }: AuthInfo): boolean => {
  const { messages, memo, timeoutHeight } = TxBody.decode(bodyBytes)
  const known = TxBody.encode(TxBody.fromPartial({ messages, memo, timeoutHeight })).finish()
  return tip !== undefined || !Buffer.from(known).equals(bodyBytes)
}

type Key = SignerInfo['publicKey']

const secp256k1Url = '/cosmos.crypto.secp256k1.PubKey'
const multisigUrl = '/cosmos.crypto.multisig.LegacyAminoPubKey'
const accountLength = 20

const addressOf = (key: Key, prefix: string): string | null => {
  switch (key?.typeUrl) {
    case secp256k1Url:
      return formatAddress(hashKey(PubKey.decode(key.value).key), prefix)
    case multisigUrl: {
      const encoded = encodeMultisig(LegacyAminoPubKey.decode(key.value))
      return encoded === null ? null : formatAddress(sha256(encoded).subarray(0, accountLength), prefix)
    }
    default:
      return null
  }
}

// Amino's prefixes of tendermint/PubKeyMultisigThreshold and tendermint/PubKeySecp256k1, with the key's length.
const multisigPrefix = Buffer.from('22c1f7e2', 'hex')
const keyPrefix = Buffer.from('eb5ae98721', 'hex')

const keyLength = 33
// The SDK's parameters limit it (TxSigLimit), and it is one byte as a varint.
const maxKeys = 7

/** Amino's form, whose hash is the address. Null for other keys than secp256k1 among its members. */
const encodeMultisig = ({ threshold, publicKeys }: LegacyAminoPubKey): Buffer | null => {
  const keys = publicKeys.map(readKey)
  if (threshold < 1 || threshold > keys.length || keys.length > maxKeys) return null
  const members = keys.map((key) =>
    key === null ? null : Buffer.concat([Buffer.from([0x12, keyPrefix.length + key.length]), keyPrefix, key]),
  )
  if (members.includes(null)) return null
  return Buffer.concat([
    multisigPrefix,
    Buffer.from([0x08, threshold]),
    ...members.filter((member) => member !== null),
  ])
}

const readKey = (key: { readonly typeUrl: string; readonly value: Uint8Array }): Uint8Array | null => {
  if (key.typeUrl !== secp256k1Url) return null
  const bytes = PubKey.decode(key.value).key
  return bytes.length === keyLength ? bytes : null
}

interface Part {
  readonly key: Uint8Array
  readonly mode: SignMode | undefined
  readonly signature: Uint8Array
}

/** Every signature that the account's key requires; null if one is missing. */
const listParts = ({ publicKey, modeInfo }: SignerInfo, signature: Uint8Array): readonly Part[] | null => {
  if (publicKey === undefined || modeInfo === undefined) return null
  if (publicKey.typeUrl === secp256k1Url) {
    return [{ key: PubKey.decode(publicKey.value).key, mode: modeInfo.single?.mode, signature }]
  }
  const { threshold, publicKeys } = LegacyAminoPubKey.decode(publicKey.value)
  const signed = listSigned(modeInfo, publicKeys.length)
  const { signatures } = MultiSignature.decode(signature)
  const modes = modeInfo.multi?.modeInfos ?? []
  if (signed.length < threshold || signatures.length !== signed.length) return null
  return signed.map((member, index) => ({
    key: PubKey.decode(publicKeys[member]?.value ?? new Uint8Array()).key,
    mode: modes[index]?.single?.mode,
    signature: signatures[index] ?? new Uint8Array(),
  }))
}

/** Members whose bit is set, the highest bit of each byte first. */
const listSigned = ({ multi }: ModeInfo, count: number): readonly number[] => {
  const { elems = new Uint8Array() } = multi?.bitarray ?? {}
  return Array.from({ length: count }, (_, member) => member).filter(
    (member) => (((elems[member >> 3] ?? 0) >> (7 - (member % 8))) & 1) === 1,
  )
}
