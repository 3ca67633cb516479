import type { Logger } from '../../ports/logger.js'
import type { SignerLanes } from '../../ports/signerLanes.js'
import type { KeptNetwork } from '../keeper.js'
import { createSignerRunway } from '../signerRunway.js'
import type { Toncenter } from './api/toncenter.js'
import { readRelayAccount } from './relay/relayAccount.js'
import type { RelayWallet } from './relay/relayWallets.js'
import type { TonNetworkSettings, TonSettings } from './settings.js'

/** A TON network under the eyes of its keeper. */
export interface ExaminedNetwork extends KeptNetwork {
  /** Whether a relay wallet can pay for the next payment; false for all while the network is not open. */
  canPay(signer: string): boolean
  /** The relay wallet that owns least, as far as is known. */
  findPoorest(): string | null
}

// What a relayed payment costs in the end: most of what is attached comes back.
const usualNanoTon = 45_000_000n
const executionNanoTon = 60_000_000n

/** What the keeper of a TON network looks at: the nodes' chain, and our wallets there. */
export const createExaminedNetwork = (
  { network, name, zeroState }: TonNetworkSettings,
  parts: {
    readonly family: Pick<TonSettings, 'maxRelayValue' | 'lowRunwaySettles'>
    readonly api: Toncenter
    readonly wallets: readonly RelayWallet[]
    readonly lanes: SignerLanes
    readonly logger: Logger
  },
): ExaminedNetwork => {
  const { family, api, wallets, lanes, logger } = parts
  const runway = createSignerRunway({ network, lowRunwaySettles: family.lowRunwaySettles, logger })
  const floor = family.maxRelayValue + executionNanoTon
  let areLanesOpen = false

  const countSettles = (balance: bigint): number =>
    balance < floor ? 0 : Number((balance - floor) / usualNanoTon) + 1

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
    runway.note(
      accounts.map(({ wallet: { signer }, account: { balance } }) => ({
        signer,
        balance,
        settlesLeft: countSettles(balance),
      })),
    )
  }

  const findWrongChain = () => api.listHealth().find(({ wrongChain }) => wrongChain !== null)

  return {
    network,
    examine: async () => {
      if (!(await api.probe())) throw new Error('No endpoint answers')
      await measure()
      return wallets.some(({ signer }) => runway.canPay(signer)) ? null : 'no relay wallet has enough TON'
    },
    describeFailure: () =>
      findWrongChain() === undefined ? 'no node answers' : describeWrongChain(name, zeroState),
    listSigners: runway.list,
    describeRunway: runway.describe,
    listEndpoints: api.listHealth,
    canPay: (signer) => areLanesOpen && runway.canPay(signer),
    findPoorest: () => {
      const [first, ...others] = runway.list()
      if (first === undefined) return wallets[0]?.signer ?? null
      return others.reduce((poorest, one) => (one.balance < poorest.balance ? one : poorest), first).signer
    },
  }
}

/** An endpoint serves another network: a mistake in the configuration, not an outage. */
export const describeWrongChain = (name: string, zeroState: string): string =>
  `TON_RPC_URL_${name}: the endpoint serves another network than the one that began with ${zeroState}`
