import { type KeyObject, sign } from 'node:crypto'
import type { Address } from '@ton/core'
import { mnemonicToPrivateKey, mnemonicValidate } from '@ton/crypto'
import { WalletContractV5R1 } from '@ton/ton'
import type { Secret } from '../../../platform/secret.js'
import { readEd25519Seed } from '../../common/ed25519.js'

export interface RelayWallet {
  readonly contract: WalletContractV5R1
  readonly address: Address
  /** Raw address, used as the lane's signer. */
  readonly signer: string
  sign(hash: Buffer): Buffer
}

export interface RelayKey {
  readonly publicKey: Buffer
  readonly privateKey: KeyObject
}

/** Standard TON derivation; throws for an invalid mnemonic. */
export const deriveRelayKey = async (mnemonic: Secret): Promise<RelayKey> => {
  const words = mnemonic.reveal().split(' ')
  if (!(await mnemonicValidate(words))) throw new Error('TON_MNEMONIC: is not a valid TON mnemonic')
  const { publicKey, secretKey } = await mnemonicToPrivateKey(words)
  return { publicKey, privateKey: readEd25519Seed(secretKey.subarray(0, 32)) }
}

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
