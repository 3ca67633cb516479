import { type KeyObject, sign } from 'node:crypto'
import type { Address } from '@ton/core'
import { mnemonicToPrivateKey, mnemonicValidate } from '@ton/crypto'
import { WalletContractV5R1 } from '@ton/ton'
import type { Secret } from '../../../platform/secret.js'
import { readEd25519Seed } from '../../common/ed25519.js'

/** One of our wallets: an account that relays and pays. */
export interface RelayWallet {
  readonly contract: WalletContractV5R1
  readonly address: Address
  /** As lanes and operators know it. */
  readonly signer: string
  sign(hash: Buffer): Buffer
}

/** The key that all relay wallets share. */
export interface RelayKey {
  readonly publicKey: Buffer
  readonly privateKey: KeyObject
}

/** Derives the key from the words as TON's wallets do; throws when they are no mnemonic. */
export const deriveRelayKey = async (mnemonic: Secret): Promise<RelayKey> => {
  const words = mnemonic.reveal().split(' ')
  if (!(await mnemonicValidate(words))) throw new Error('TON_MNEMONIC: is no mnemonic of TON')
  const { publicKey, secretKey } = await mnemonicToPrivateKey(words)
  return { publicKey, privateKey: readEd25519Seed(secretKey.subarray(0, 32)) }
}

/** The first wallets of version 5 that a key has on a network. */
export const createRelayWallets = (
  { publicKey, privateKey }: RelayKey,
  globalId: number,
  count: number,
): readonly RelayWallet[] =>
  Array.from({ length: count }, (_, subwalletNumber) => {
    const context = { walletVersion: 'v5r1', workchain: 0, subwalletNumber } as const
    const contract = WalletContractV5R1.create({
      publicKey,
      walletId: { networkGlobalId: globalId, context },
    })
    return {
      contract,
      address: contract.address,
      signer: contract.address.toRawString(),
      sign: (hash) => sign(null, hash, privateKey),
    }
  })
