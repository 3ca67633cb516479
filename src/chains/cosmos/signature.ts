import { createHash, createPublicKey, verify } from 'node:crypto'
import { MsgMultiSend, MsgSend } from 'cosmjs-types/cosmos/bank/v1beta1/tx'
import type { AuthInfo, TxBody } from 'cosmjs-types/cosmos/tx/v1beta1/tx'
import { sha256 } from './addresses.js'

// DER prefix of a compressed secp256k1 key (RFC 5480).
const publicKeyPrefix = Buffer.from('3036301006072a8648ce3d020106052b8104000a032200', 'hex')

// Half the order of the curve: the chain refuses greater s.
const maxS = BigInt('0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0')

const keyLength = 33
const signatureLength = 64

/** The bytes of the key's account address. */
export const hashKey = (key: Uint8Array): Buffer => createHash('ripemd160').update(sha256(key)).digest()

/** Over the sha256 of the message; r and s without recovery id. False for what is no key or signature. */
export const isSignedByKey = (key: Uint8Array, message: Uint8Array, rs: Uint8Array): boolean => {
  if (key.length !== keyLength || rs.length !== signatureLength) return false
  if (BigInt(`0x${Buffer.from(rs.subarray(32)).toString('hex')}`) > maxS) return false
  try {
    const der = Buffer.concat([publicKeyPrefix, key])
    const keyObject = createPublicKey({ key: der, format: 'der', type: 'spki' })
    return verify('sha256', message, { key: keyObject, dsaEncoding: 'ieee-p1363' }, rs)
  } catch {
    // Not a curve point.
    return false
  }
}

interface Signing {
  readonly chainId: string
  readonly accountNumber: bigint
  readonly sequence: bigint
}

type Message = TxBody['messages'][number]

/**
 * What a key signs by SIGN_MODE_LEGACY_AMINO_JSON, as hardware wallets and multi-signature accounts do. Null for messages
 * of other modules, whose JSON depends on each.
 */
export const writeAminoSignDocument = (
  { messages, memo, timeoutHeight }: TxBody,
  { fee }: AuthInfo,
  { chainId, accountNumber, sequence }: Signing,
): string | null => {
  const msgs = messages.map(describeMessage)
  if (fee === undefined || msgs.includes(null)) return null
  return writeSorted({
    account_number: `${accountNumber}`,
    chain_id: chainId,
    fee: {
      amount: fee.amount,
      gas: `${fee.gasLimit}`,
      ...(fee.granter === '' ? {} : { granter: fee.granter }),
      ...(fee.payer === '' ? {} : { payer: fee.payer }),
    },
    memo,
    msgs,
    sequence: `${sequence}`,
    ...(timeoutHeight === 0n ? {} : { timeout_height: `${timeoutHeight}` }),
  })
}

const describeMessage = ({ typeUrl, value }: Message): object | null => {
  switch (typeUrl) {
    case '/cosmos.bank.v1beta1.MsgSend': {
      const { fromAddress, toAddress, amount } = MsgSend.decode(value)
      return {
        type: 'cosmos-sdk/MsgSend',
        value: { amount, from_address: fromAddress, to_address: toAddress },
      }
    }
    case '/cosmos.bank.v1beta1.MsgMultiSend': {
      const { inputs, outputs } = MsgMultiSend.decode(value)
      return { type: 'cosmos-sdk/MsgMultiSend', value: { inputs, outputs } }
    }
    default:
      return null
  }
}

/** Keys in order and no blanks; Go escapes these characters too. */
const writeSorted = (value: unknown): string =>
  JSON.stringify(sortKeys(value)).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

const sortKeys = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([left], [right]) => (left < right ? -1 : 1))
      .map(([key, member]) => [key, sortKeys(member)]),
  )
}
