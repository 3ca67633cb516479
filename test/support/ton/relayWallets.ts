import type { Address } from '@ton/core'
import { mnemonicToPrivateKey } from '@ton/crypto'
import { WalletContractV5R1 } from '@ton/ton'
import { facilitatorWords } from './facilitatorWords.js'
import type { TonChain } from './tonChain.js'

/** The addresses of the facilitator's relay wallets, computed apart from the product. */
export const findRelayWallets = async (globalId: number, count = 1): Promise<readonly Address[]> => {
  const { publicKey } = await mnemonicToPrivateKey(facilitatorWords.split(' '))
  return Array.from({ length: count }, (_, subwalletNumber) => {
    const context = { walletVersion: 'v5r1', workchain: 0, subwalletNumber } as const
    return WalletContractV5R1.create({ publicKey, walletId: { networkGlobalId: globalId, context } }).address
  })
}

/** Gives the relay wallets TON; answers their addresses. They are deployed by their first message. */
export const fundRelayWallets = async (
  chain: TonChain,
  count = 1,
  nanoTon = 100_000_000_000n,
): Promise<readonly Address[]> => {
  const wallets = await findRelayWallets(chain.globalId, count)
  for (const wallet of wallets) await chain.fund(wallet, nanoTon)
  return wallets
}

/** The facilitator's variables for a chain. */
export const tonEnvironment = (chain: TonChain, url = chain.url): Record<string, string> => ({
  TON_MNEMONIC: facilitatorWords,
  TON_RPC_URL_testnet: url,
  TON_TOKENS_testnet: chain.token.master.toString(),
  TON_POLL_INTERVAL_MS_testnet: '20',
  TON_RELAY_WALLETS: '1',
  // What the reference jetton needs to deploy the recipient's jetton wallet.
  TON_MIN_RELAY_NANOTON: '45000000',
})
