import { AppError } from '../../errors.js'
import type { Clock } from '../../ports/clock.js'
import type { CreditCounter, CreditFacts, CreditStore, Recount } from '../../ports/creditStore.js'
import type { Job } from '../../ports/job.js'
import type { Logger } from '../../ports/logger.js'
import { canonicalNetwork, namespaceOf } from '../../protocol/network.js'
import type { SchemeRegistry } from '../../schemes/registry.js'
import type { CreditUseCases, WalletQuery } from '../useCases.js'
import { type CreditPoints, explainScore, listImprovements, scoreCredit } from './score.js'

interface Credit {
  readonly useCases: CreditUseCases
  readonly jobs: Readonly<Record<'updateCreditScores', Job>>
}

// Scores grow with age: the ranking is at most a day behind.
const scoreAgeMs = 86_400_000

export const createCredit = (dependencies: CreditDependencies): Credit => {
  const { creditStore, clock } = dependencies
  return {
    useCases: createReadScores(dependencies),
    jobs: {
      updateCreditScores: {
        everyMs: 1_000,
        isShared: true,
        needs: 'credit',
        run: async (stopped) => {
          await creditStore.findLostDates(stopped)
          const before = new Date(clock.now().getTime() - scoreAgeMs)
          const score = (facts: Parameters<typeof scoreCredit>[0]) => scoreCredit(facts, clock.now()).score
          while (!stopped.aborted && (await creditStore.rescore(score, before))) {
            // Nothing: the next wallets follow.
          }
        },
      },
    },
  }
}

interface CreditDependencies {
  readonly registry: SchemeRegistry
  readonly creditStore: CreditStore
  readonly counter: CreditCounter
  readonly clock: Clock
  readonly logger: Logger
}

// Each uses a connection to the database for up to 1.5 s.
const maxRecounts = 3

const noFacts: CreditFacts = {
  payments: 0,
  volume: 0n,
  cappedPayments: 0,
  cappedVolume: 0n,
  payees: 0,
  returnedPayments: 0,
  returnedVolume: 0n,
  failures: 0,
  firstAt: null,
}

const createReadScores = (dependencies: CreditDependencies): CreditUseCases => {
  const { registry, creditStore, counter, clock, logger } = dependencies
  const recounts = new Map<string, Promise<Recount>>()

  /** One wallet is counted once at a time, however many ask. */
  const recount = async (key: string): Promise<Recount> => {
    const running = recounts.get(key)
    if (running !== undefined) return await running
    if (recounts.size >= maxRecounts) {
      throw new AppError('SERVICE_UNAVAILABLE', 'Other wallets are being counted; retry', {
        retryAfterSeconds: 1,
      })
    }
    const started = creditStore.recount(key).finally(() => recounts.delete(key))
    recounts.set(key, started)
    return await started
  }

  /** An address can stand for several wallets: chooses the first that has paid. */
  const choose = async (query: WalletQuery): Promise<{ wallet: Wallet; facts: CreditFacts }> => {
    const wallets = findWallets(registry, query)
    const known = new Map(
      (await creditStore.read(wallets.map(({ key }) => key))).map(({ wallet, facts }) => [wallet, facts]),
    )
    const wallet = wallets.find(({ key }) => known.has(key)) ?? wallets[0]
    return { wallet, facts: known.get(wallet.key) ?? noFacts }
  }

  const view = (wallet: Wallet, facts: CreditFacts) => {
    const now = clock.now()
    const points = scoreCredit(facts, now)
    return {
      ...summarize(wallet, facts, points),
      explanation: explainScore(facts, points),
      improvements: listImprovements(facts, points, now),
    }
  }

  return {
    readScore: async (query) => {
      const { wallet, facts } = await choose(query)
      return view(wallet, facts)
    },

    refreshScore: async (query) => {
      const { wallet } = await choose(query)
      const { isComplete, repairs } = await recount(wallet.key)
      if (repairs > 0) {
        counter.countCreditRepair()
        logger.error({ wallet: wallet.key, repairs }, 'credit.repaired')
      }
      const [found] = await creditStore.read([wallet.key])
      return { ...view(wallet, found?.facts ?? noFacts), refresh: { isComplete, repairs } }
    },

    listTop: async (limit) => {
      const now = clock.now()
      const scored = (await creditStore.listTop(limit)).map(({ wallet, facts }) =>
        summarize(readWalletKey(wallet), facts, scoreCredit(facts, now)),
      )
      // Stored scores can be a day old; what is shown is in its own order.
      return {
        wallets: scored
          .toSorted((left, right) => right.score - left.score)
          .map((each, index) => ({ rank: index + 1, ...each })),
      }
    },
  }
}

const summarize = (
  { namespace, address }: Pick<Wallet, 'namespace' | 'address'>,
  facts: CreditFacts,
  { score, breakdown, successRate, accountAgeDays }: CreditPoints,
) => ({
  wallet: address,
  namespace,
  score,
  breakdown,
  stats: {
    paymentCount: facts.payments,
    successRate,
    totalVolume: facts.volume.toString(),
    accountAgeDays,
    payeeCount: facts.payees,
    failureCount: facts.failures,
    cyclePaymentCount: facts.returnedPayments,
    returnedVolume: facts.returnedVolume.toString(),
  },
})

/** One address of one family. */
interface Wallet {
  /** As the credit store names it. */
  readonly key: string
  readonly namespace: string
  readonly address: string
}

/** The wallets that an address can stand for, in the order of the registry. Throws if it is an address of no family. */
export const findWallets = (
  registry: SchemeRegistry,
  { wallet: text, network }: WalletQuery,
): readonly [Wallet, ...Wallet[]] => {
  const wanted = network === undefined ? null : canonicalNetwork(network)
  const schemes = registry.list().filter(({ kind }) => wanted === null || kind.network === wanted)
  if (schemes.length === 0)
    throw new AppError('INVALID_REQUEST', 'network: this facilitator does not support it')
  const found = new Map<string, Wallet>()
  for (const scheme of schemes) {
    const address = scheme.network.normalizeAddress(text)
    if (address === null) continue
    const namespace = namespaceOf(scheme.kind.network)
    const key = `${namespace}:${address}`
    if (!found.has(key)) found.set(key, { key, namespace, address })
  }
  const [first, ...others] = found.values()
  if (first !== undefined) return [first, ...others]
  const families = [...new Set(schemes.map(({ kind }) => namespaceOf(kind.network)))].sort().join(', ')
  throw new AppError('INVALID_REQUEST', `wallet: must be an address of one of these families: ${families}`)
}

/** The key is one of the credit store. */
const readWalletKey = (key: string): Pick<Wallet, 'namespace' | 'address'> => {
  const end = key.indexOf(':')
  return { namespace: key.slice(0, end), address: key.slice(end + 1) }
}
