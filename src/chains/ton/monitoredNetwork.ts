import type { Logger } from '../../ports/logger.js'
import type { SignerLanes } from '../../ports/signerLanes.js'
import type { MonitoredNetwork } from '../common/networkMonitor.js'
import { createSignerBalances } from '../common/signerBalances.js'
import type { Rpc } from './rpc/rpc.js'
import type { TonNetworkSettings, TonSettings } from './settings.js'
import { advanceLane } from './transactions/advanceLane.js'
import { readAgreedAccount, readRelayAccount } from './transactions/relayAccount.js'
import { typicalNanoTon } from './transactions/relayMessage.js'
import type { RelayWallet } from './transactions/relayWallets.js'

interface MonitoredTonNetwork extends MonitoredNetwork {
  /** False for all signers until the lanes are initialized. */
  canPay(signer: string): boolean
  findLowestBalance(): string | null
}

const executionNanoTon = 60_000_000n

export const createMonitoredNetwork = (
  { network, name, zeroState }: TonNetworkSettings,
  dependencies: {
    readonly family: Pick<TonSettings, 'relayLimits' | 'lowBalanceSettlements'>
    readonly rpc: Rpc
    /** Each healthy endpoint by itself. */
    readonly listWitnesses: () => readonly Pick<Rpc, 'readAccount'>[]
    readonly wallets: readonly RelayWallet[]
    readonly lanes: SignerLanes
    readonly logger: Logger
  },
): MonitoredTonNetwork => {
  const { family, rpc, wallets, lanes, logger } = dependencies
  const balances = createSignerBalances({
    network,
    lowBalanceSettlements: family.lowBalanceSettlements,
    logger,
  })
  const floor = family.relayLimits.most + executionNanoTon
  let areLanesOpen = false

  const countSettlementsLeft = (balance: bigint): number =>
    balance < floor ? 0 : Number((balance - floor) / typicalNanoTon) + 1

  const measure = async () => {
    const accounts = await Promise.all(
      wallets.map(async (wallet) => ({ wallet, account: await readRelayAccount(rpc, wallet) })),
    )
    if (!areLanesOpen) {
      for (const { wallet, account } of accounts) {
        const lane = { network, signer: wallet.signer }
        await advanceLane(lanes, lane, await readAgreedAccount(dependencies, wallet, account))
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

  return {
    network,
    findProblem: async () => {
      if (!(await rpc.probe())) throw new Error('No endpoint responds')
      await measure()
      return wallets.some(({ signer }) => balances.canPay(signer))
        ? null
        : 'no relay wallet has enough TON: fund at least one'
    },
    describeFailure: () =>
      findWrongChain(rpc) === null ? 'no node answers' : new WrongChainError(name, zeroState).message,
    listSigners: balances.list,
    getBalanceLevel: balances.getLevel,
    listEndpoints: rpc.listHealth,
    canPay: (signer) => areLanesOpen && balances.canPay(signer),
    findLowestBalance: () => {
      const [first, ...others] = balances.list()
      if (first === undefined) return wallets[0]?.signer ?? null
      return others.reduce((lowest, each) => (each.balance < lowest.balance ? each : lowest), first).signer
    },
  }
}

/** Zero state of the chain that an endpoint serves in place of the configured one, or null. */
export const findWrongChain = (rpc: Rpc): string | null =>
  rpc.listHealth().find(({ wrongChain }) => wrongChain !== null)?.wrongChain ?? null

/** A configuration error, not an outage: it stops the start. */
export class WrongChainError extends Error {
  constructor(name: string, zeroState: string) {
    super(
      `TON_RPC_URL_${name}: the endpoint serves another network than the one with zero state ${zeroState}`,
    )
    this.name = 'WrongChainError'
  }
}
