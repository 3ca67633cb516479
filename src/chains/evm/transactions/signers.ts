import type { Hex } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import type { Secret } from '../../../platform/secret.js'
import { isSameAddress } from '../abi/address.js'
import type { SettlementCall } from './settlementCall.js'

/** The same on every EVM network. */
export interface Signers {
  readonly addresses: readonly Hex[]
  readonly accounts: readonly PrivateKeyAccount[]
  /** A funded sender for a call, or null. Deterministic: a call is simulated and sent by the same account. */
  choose(
    call: Pick<SettlementCall, 'id' | 'sender'>,
    canPay: (address: Hex) => boolean,
  ): PrivateKeyAccount | null
}

/** Errors never contain a key. */
export const createSigners = (privateKeys: readonly Secret[]): Signers => {
  const accounts = privateKeys.map((key, index) => {
    try {
      return privateKeyToAccount(`0x${key.reveal().slice(2)}`)
    } catch {
      throw new Error(`EVM_PRIVATE_KEY: key ${index + 1} is not a valid secp256k1 key`)
    }
  })
  return {
    addresses: accounts.map(({ address }) => address),
    accounts,
    choose: ({ id, sender }, canPay) => {
      const able = accounts.filter(
        ({ address }) => (sender === null || isSameAddress(address, sender)) && canPay(address),
      )
      return able[able.length < 2 ? 0 : hash(id) % able.length] ?? null
    },
  }
}

/** FNV-1a, 32 bits: spreads calls over accounts. */
const hash = (text: string): number => {
  let value = 0x811c9dc5
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193)
  return value >>> 0
}
