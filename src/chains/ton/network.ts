import type { Network } from '../../schemes/network.js'
import { networkUnavailable } from '../common/networkUnavailable.js'
import { createSettlingNetwork } from '../common/settling/network.js'
import type { SettlingTerms } from '../common/settling/openFamily.js'
import { readAddress } from './encoding/cells.js'
import { coinDecimals } from './networks.js'
import type { TonNetworkSettings } from './settings.js'
import type { JettonRegistry } from './tokens/jettons.js'
import { typicalNanoTon } from './transactions/relayWallets.js'

// A payment takes up to four blocks, of the wallet, the two jetton wallets and the masterchain, about 5 s apart.
const secondsToSettle = 20

interface NetworkDependencies {
  readonly settings: TonNetworkSettings
  readonly jettons: JettonRegistry
  readonly signers: readonly string[]
}

export const createTonNetwork = (
  { settings, jettons, signers }: NetworkDependencies,
  terms: SettlingTerms,
): Network =>
  createSettlingNetwork({
    ...terms,
    settings,
    signers,
    secondsToSettle,
    // Only relayed payments have one: for the others the payer pays.
    findCost: () => typicalNanoTon,
    readAddress,
    formatAddress: (address) => address.toRawString(),
    readBalance: async (master, owner) => {
      const balance = await jettons.findBalance(master, owner)
      if (balance !== null) return balance
      const problem = `${master.toRawString()} did not answer as a jetton does`
      throw networkUnavailable(settings.network, new Error(problem))
    },
    // It is for a relayed payment; otherwise the payer's wallet pays about the same.
    estimateFee: async () => ({
      amount: typicalNanoTon,
      symbol: 'TON',
      decimals: coinDecimals,
      paidBy: 'facilitator',
    }),
    // A block in the masterchain is final, and nodes report no others.
    getBlockStatus: async () => 'final',
  })
