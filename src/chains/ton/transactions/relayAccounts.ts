import type { Logger } from '../../../ports/logger.js'
import type { Lane } from '../../../ports/settlementJournal.js'
import type { SignerLanes } from '../../../ports/signerLanes.js'
import {
  countSettlementsLeft,
  createSignerBalances,
  type SignerBalances,
} from '../../common/signerBalances.js'
import { tryParse } from '../encoding/cells.js'
import type { Rpc } from '../rpc/rpc.js'
import type { TonNetworkSettings, TonSettings } from '../settings.js'
import { type RelayWallet, typicalNanoTon } from './relayWallets.js'

export interface RelayAccount {
  readonly seqno: number
  readonly balance: bigint
  readonly isDeployed: boolean
  /** Unix seconds, from the chain. */
  readonly timestamp: number
}

export const readRelayAccount = async (
  rpc: Pick<Rpc, 'readAccount'>,
  { address }: RelayWallet,
): Promise<RelayAccount> => {
  const { state, balance, data, timestamp } = await rpc.readAccount(address)
  if (state !== 'active') return { seqno: 0, balance, isDeployed: false, timestamp }
  const seqno = tryParse(() => data?.beginParse().skip(1).loadUint(32))
  if (seqno == null) throw new Error('A node returned a relay wallet without a seqno')
  return { seqno, balance, isDeployed: true, timestamp }
}

interface AgreedAccount extends RelayAccount {
  /** Whether a second healthy endpoint reports this seqno or a higher one. */
  readonly isAgreed: boolean
}

/** Each endpoint by itself. */
interface RelayWitnesses {
  readonly rpc: Pick<Rpc, 'readAccount'>
  /** Healthy ones. */
  listWitnesses(): readonly Pick<Rpc, 'readAccount'>[]
}

/**
 * With the highest seqno that two healthy endpoints report; one endpoint's where no other answers. `seen` was read just
 * now: with fewer than two endpoints nothing is asked again.
 */
export const readAgreedAccount = async (
  { rpc, listWitnesses }: RelayWitnesses,
  wallet: RelayWallet,
  seen?: RelayAccount,
): Promise<AgreedAccount> => {
  const witnesses = listWitnesses()
  const answers =
    witnesses.length < 2
      ? []
      : await Promise.allSettled(witnesses.map((witness) => readRelayAccount(witness, wallet)))
  const accounts = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
  const [highest, second] = accounts.sort((left, right) => right.seqno - left.seqno)
  if (second !== undefined) return { ...second, isAgreed: true }
  return { ...(highest ?? seen ?? (await readRelayAccount(rpc, wallet))), isAgreed: false }
}

/** How far one endpoint alone may move a lane at once: each seqno of a gap takes a message and a block. */
export const maxUnconfirmedJump = 4

/** Moves a lane to what the chain has used; by one endpoint alone in bounded steps, once the lane is in use. */
export const advanceLane = async (
  lanes: SignerLanes,
  lane: Lane,
  { seqno, isAgreed }: Pick<AgreedAccount, 'seqno' | 'isAgreed'>,
): Promise<void> => {
  const next = await lanes.readNext(lane)
  const isBounded = !isAgreed && next > 0
  await lanes.advance(lane, isBounded ? Math.min(seqno, next + maxUnconfirmedJump) : seqno)
}

interface RelayBalances extends Omit<SignerBalances, 'update'> {
  /** Initializes the lanes, the first time, and reads the balances. */
  measure(): Promise<void>
  /** False for all signers until the lanes are initialized. */
  canPay(signer: string): boolean
  findLowest(): string | null
}

interface RelayBalancesDependencies extends RelayWitnesses {
  readonly family: Pick<TonSettings, 'relayLimits' | 'lowBalanceSettlements'>
  readonly wallets: readonly RelayWallet[]
  readonly lanes: SignerLanes
  readonly logger: Logger
}

const executionNanoTon = 60_000_000n

export const createRelayBalances = (
  { network }: Pick<TonNetworkSettings, 'network'>,
  dependencies: RelayBalancesDependencies,
): RelayBalances => {
  const { family, rpc, wallets, lanes, logger } = dependencies
  const { lowBalanceSettlements, relayLimits } = family
  const { update, ...balances } = createSignerBalances({ network, lowBalanceSettlements, logger })
  const terms = { floor: relayLimits.most + executionNanoTon, cost: typicalNanoTon }
  let areLanesOpen = false

  return {
    ...balances,
    measure: async () => {
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
      update(
        accounts.map(({ wallet: { signer }, account: { balance } }) => ({
          signer,
          balance,
          settlementsLeft: countSettlementsLeft(balance, terms),
        })),
      )
    },
    canPay: (signer) => areLanesOpen && balances.canPay(signer),
    findLowest: () => {
      const [first, ...others] = balances.list()
      if (first === undefined) return wallets[0]?.signer ?? null
      return others.reduce((lowest, each) => (each.balance < lowest.balance ? each : lowest), first).signer
    },
  }
}
