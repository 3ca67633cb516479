import type { Address } from '@ton/core'
import { mnemonicToPrivateKey } from '@ton/crypto'
import { WalletContractV5R1 } from '@ton/ton'
import { patientTimeoutMs } from '../rpcProxy.js'
import { facilitatorMnemonic } from './facilitatorMnemonic.js'
import type { TonChain } from './tonChain.js'

/** Computed independently of the source under test. */
export const findRelayWallets = async (globalId: number, count = 1): Promise<readonly Address[]> => {
  const { publicKey } = await mnemonicToPrivateKey(facilitatorMnemonic.split(' '))
  return Array.from({ length: count }, (_, subwalletNumber) => {
    const context = { walletVersion: 'v5r1', workchain: 0, subwalletNumber } as const
    return WalletContractV5R1.create({ publicKey, walletId: { networkGlobalId: globalId, context } }).address
  })
}

/** Funds the relay wallets and returns their addresses; their first message deploys them. */
export const fundRelayWallets = async (
  chain: TonChain,
  count = 1,
  nanoTon = 100_000_000_000n,
): Promise<readonly Address[]> => {
  const wallets = await findRelayWallets(chain.globalId, count)
  for (const wallet of wallets) await chain.fund(wallet, nanoTon)
  return wallets
}

export const tonEnvironment = (chain: TonChain, url = chain.url): Record<string, string> => ({
  TON_MNEMONIC: facilitatorMnemonic,
  TON_RPC_URL_testnet: url,
  TON_TOKENS_testnet: chain.token.master.toString(),
  TON_POLL_INTERVAL_MS_testnet: '100',
  TON_RPC_TIMEOUT_MS: patientTimeoutMs,
  TON_RELAY_WALLETS: '1',
  // Needed by the reference jetton to deploy the recipient's jetton wallet.
  TON_MIN_RELAY_NANOTON: '45000000',
  // Payers of tests have no API key, and their recipients are new.
  SPONSORED_RECIPIENTS: '*',
})
