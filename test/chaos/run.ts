import { type FaultKind, planFault } from './faults.js'
import { planLoad } from './payments.js'
import { createRandom, type Random } from './random.js'
import { checkReconciliation } from './reconcile.js'
import { describeViolations } from './report.js'
import { auditUntilClean, type PlannedRound, type RoundResult, runRound } from './round.js'
import { startWorld, type World } from './world.js'

interface ChaosOptions {
  readonly seed: number
  readonly rounds: number
  readonly paymentsPerRound: number
  readonly windowMs: number
  readonly longestFaultMs: number
  /** In blocks. */
  readonly deepestReorg: number
  readonly closeMs: number
  /** Used in turn. */
  readonly kinds: readonly FaultKind[]
  readonly onRound?: (result: RoundResult) => void
  /** Errors while stopping must not hide the results. */
  readonly onStopFailure: (error: unknown) => void
  readonly stopped?: AbortSignal
}

export interface ChaosResult {
  readonly options: ChaosOptions
  readonly rounds: readonly RoundResult[]
  readonly totals: WorldTotals
  /** Null if no invariant was violated; otherwise the full report. */
  readonly failure: string | null
}

interface WorldTotals {
  readonly elapsedMs: number
  readonly hasRedis: boolean
  readonly eventsReceived: number
  readonly instances: readonly ({ readonly name: string } & ReturnType<
    World['instances'][number]['readStats']
  >)[]
}

/** Runs rounds until the first violation. */
export const runChaos = async (options: ChaosOptions): Promise<ChaosResult> => {
  const random = createRandom(options.seed)
  const world = await startWorld(random)
  const begun = performance.now()
  try {
    const { rounds, failures } = await runRounds(world, random, options)
    const totals = {
      elapsedMs: performance.now() - begun,
      hasRedis: world.redis !== null,
      eventsReceived: world.account.events.length,
      instances: world.instances.map(({ name, readStats }) => ({ name, ...readStats() })),
    }
    return { options, rounds, totals, failure: failures.length === 0 ? null : failures.join('\n') }
  } finally {
    await world.stop().catch(options.onStopFailure)
  }
}

const runRounds = async (
  world: World,
  random: Random,
  options: ChaosOptions,
): Promise<{ readonly rounds: readonly RoundResult[]; readonly failures: readonly string[] }> => {
  const rounds: RoundResult[] = []
  for (const plan of planRounds(random, world.recipients, options)) {
    if (options.stopped?.aborted === true) break
    try {
      const result = await runRound(world, plan, options)
      rounds.push(result)
      options.onRound?.(result)
      const failures = listFailures(world, result)
      if (failures.length > 0) return { rounds, failures }
    } catch (error) {
      return { rounds, failures: [`Round ${plan.name} failed: ${String(error)}`] }
    }
  }
  const failures = listFailures(world, await auditAllRounds(world, rounds, options))
  // Last, because it plants differences.
  const isSound = failures.length === 0 && rounds.length > 0
  return { rounds, failures: isSound ? await checkReconciliation(world) : failures }
}

/** Audits all rounds together. A reorg of the last round may reopen rows of an earlier one for a moment. */
const auditAllRounds = async (
  world: World,
  rounds: readonly RoundResult[],
  { closeMs }: Pick<ChaosOptions, 'closeMs'>,
): Promise<RoundResult | undefined> => {
  const last = rounds.at(-1)
  if (last === undefined) return undefined
  const payments = rounds.flatMap((round) => round.payments)
  const answers = rounds.flatMap((round) => round.answers)
  const scope = { payments, answers, fromBlock: 0n }
  return { ...last, payments, answers, ...(await auditUntilClean(world, scope, Date.now() + closeMs)) }
}

const listFailures = ({ instances }: World, result: RoundResult | undefined): readonly string[] => {
  const findLogLines = (words: readonly string[]) =>
    instances.flatMap((instance) => instance.findLogLines(words).map((line) => `${instance.name} ${line}`))
  const crashes = instances.flatMap(({ readStats }) => readStats().crashes)
  const isBroken = result !== undefined && result.violations.length > 0
  return [...(isBroken ? [describeViolations(result, findLogLines)] : []), ...crashes]
}

/** Each kind is the main fault of a round in turn; up to two others are added at random. */
export const planRounds = (
  random: Random,
  recipients: World['recipients'],
  options: Pick<
    ChaosOptions,
    'kinds' | 'rounds' | 'windowMs' | 'longestFaultMs' | 'deepestReorg' | 'paymentsPerRound'
  >,
): readonly PlannedRound[] => {
  const kinds: FaultKind[] = []
  while (kinds.length < options.rounds) kinds.push(...random.shuffle(options.kinds))
  return kinds.slice(0, options.rounds).map((main, index) => {
    // At most one of a kind: a server cannot be restarted twice concurrently.
    const otherKinds = options.kinds.filter((kind) => kind !== main)
    const others = random.shuffle(otherKinds).slice(0, random.integer(0, 2))
    const { windowMs, longestFaultMs: longestMs, deepestReorg } = options
    const faults = [main, ...others].map((kind) =>
      planFault(random, kind, { windowMs, longestMs, deepestReorg }),
    )
    return {
      name: `r${index + 1}`,
      faults,
      load: planLoad(random, recipients, {
        name: `r${index + 1}`,
        count: options.paymentsPerRound,
        windowMs: options.windowMs,
        moments: faults.map(({ atMs }) => atMs),
        // After a reorg, one of two payments may spend the funds of the other.
        hasPoorPayers: !faults.some(({ kind }) => kind === 'chain.reorganised'),
      }),
    }
  })
}
