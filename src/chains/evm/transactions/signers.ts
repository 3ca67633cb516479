import { type Hex, hexToBigInt } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import type { Secret } from '../../../platform/secret.js'

/** Our accounts; the same on every EVM network. */
export interface Signers {
  readonly addresses: readonly Hex[]
  readonly accounts: readonly PrivateKeyAccount[]
  /** The account that sends a given authorization, from those that can pay for gas; null when none can. */
  pick(nonce: Hex, canPay: (address: Hex) => boolean): PrivateKeyAccount | null
}

/** Opens the accounts of the configured keys. An error never repeats a key. */
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
    pick: (nonce, canPay) => {
      const able = accounts.filter(({ address }) => canPay(address))
      // By the authorization's own random number: verify and settle arrive at the same account.
      return able[Number(hexToBigInt(nonce) % BigInt(Math.max(able.length, 1)))] ?? null
    },
  }
}
