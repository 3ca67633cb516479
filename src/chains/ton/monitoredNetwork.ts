import type { Logger } from '../../ports/logger.js'
import type { SignerLanes } from '../../ports/signerLanes.js'
import type { MonitoredNetwork } from '../common/networkMonitor.js'
import { createSignerBalances } from '../common/signerBalances.js'
import type { Toncenter } from './rpc/rpc.js'
import type { TonNetworkSettings, TonSettings } from './settings.js'
import { readRelayAccount } from './transactions/relayAccount.js'
import type { RelayWallet } from './transactions/relayWallets.js'

/** A TON network under the eyes of its monitor. */
export interface MonitoredTonNetwork extends MonitoredNetwork {
  /** Whether a relay wallet can pay for the next payment; false for all while the network is not open. */
  canPay(signer: string): boolean
  /** The relay wallet that owns least, as far as is known. */
  findPoorest(): string | null
}

// What a relayed payment costs in the end: most of what is attached comes back.
const typicalNanoTon = 45_000_000n
const executionNanoTon = 60_000_000n

/** What the monitor of a TON network looks at: the nodes' chain, and our wallets there. */
export const createMonitoredNetwork = (
  { network, name, zeroState }: TonNetworkSettings,
  dependencies: {
    readonly family: Pick<TonSettings, 'maxRelayValue' | 'lowBalanceSettlements'>
    readonly api: Toncenter
    readonly wallets: readonly RelayWallet[]
    readonly lanes: SignerLanes
    readonly logger: Logger
  },
): MonitoredTonNetwork => {
  const { family, api, wallets, lanes, logger } = dependencies
  const balances = createSignerBalances({
    network,
    lowBalanceSettlements: family.lowBalanceSettlements,
    logger,
  })
  const floor = family.maxRelayValue + executionNanoTon
  let areLanesOpen = false

  const countSettlementsLeft = (balance: bigint): number =>
    balance < floor ? 0 : Number((balance - floor) / typicalNanoTon) + 1

  const measure = async () => {
    const accounts = await Promise.all(
      wallets.map(async (wallet) => ({ wallet, account: await readRelayAccount(api, wallet) })),
    )
    if (!areLanesOpen) {
      for (const { wallet, account } of accounts) {
        await lanes.advance({ network, signer: wallet.signer }, account.seqno)
      }
      areLanesOpen = true
    }
    balances.update(
      accounts.map(({ wallet: { signer }, account: { balance } }) => ({
        signer,
        balance,
        settlementsLeft: countSettlementsLeft(balance),
      })),
    )
  }

  const findWrongChain = () => api.listHealth().find(({ wrongChain }) => wrongChain !== null)

  return {
    network,
    examine: async () => {
      if (!(await api.probe())) throw new Error('No endpoint answers')
      await measure()
      return wallets.some(({ signer }) => balances.canPay(signer)) ? null : 'no relay wallet has enough TON'
    },
    describeFailure: () =>
      findWrongChain() === undefined ? 'no node answers' : describeWrongChain(name, zeroState),
    listSigners: balances.list,
    getBalanceLevel: balances.getLevel,
    listEndpoints: api.listHealth,
    canPay: (signer) => areLanesOpen && balances.canPay(signer),
    findPoorest: () => {
      const [first, ...others] = balances.list()
      if (first === undefined) return wallets[0]?.signer ?? null
      return others.reduce((poorest, one) => (one.balance < poorest.balance ? one : poorest), first).signer
    },
  }
}

/** An endpoint serves another network: a mistake in the configuration, not an outage. */
export const describeWrongChain = (name: string, zeroState: string): string =>
  `TON_RPC_URL_${name}: the endpoint serves another network than the one that began with ${zeroState}`
