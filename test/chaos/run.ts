import { audit } from './audit.js'
import { type FaultKind, planFault } from './faults.js'
import { planLoad } from './payments.js'
import { createRandom, type Random } from './random.js'
import { describeViolations } from './report.js'
import { type PlannedRound, type RoundResult, runRound } from './round.js'
import { startWorld, type World } from './world.js'

/** How much chaos. */
export interface ChaosOptions {
  readonly seed: number
  readonly rounds: number
  readonly paymentsPerRound: number
  /** How long clients arrive and faults begin. */
  readonly windowMs: number
  readonly longestFaultMs: number
  /** From the end of a round's faults until everything must be at rest. */
  readonly closeMs: number
  /** The kinds of faults, in turn. */
  readonly kinds: readonly FaultKind[]
  readonly onRound?: (result: RoundResult) => void
  /** Receives why something could not be stopped in order, which must not hide what the rounds have shown. */
  readonly onUntidy: (error: unknown) => void
  /** Ends the run after the round that is under way. */
  readonly stopped?: AbortSignal
}

/** What a run saw. */
export interface ChaosResult {
  readonly options: ChaosOptions
  readonly rounds: readonly RoundResult[]
  readonly totals: WorldTotals
  /** Null when every promise was kept; else everything that explains what was not. */
  readonly failure: string | null
}

/** What is counted over the whole run. */
export interface WorldTotals {
  readonly elapsedMs: number
  readonly hasRedis: boolean
  readonly instances: readonly ({ readonly name: string } & ReturnType<
    World['instances'][number]['figures']
  >)[]
}

/** Runs rounds of chaos in a world of their own, and stops at the first that breaks a promise. */
export const runChaos = async (options: ChaosOptions): Promise<ChaosResult> => {
  const random = createRandom(options.seed)
  const world = await startWorld(random)
  const begun = performance.now()
  try {
    const { rounds, failures } = await playRounds(world, random, options)
    const totals = {
      elapsedMs: performance.now() - begun,
      hasRedis: world.redis !== null,
      instances: world.instances.map(({ name, figures }) => ({ name, ...figures() })),
    }
    return { options, rounds, totals, failure: failures.length === 0 ? null : failures.join('\n') }
  } finally {
    await world.stop().catch(options.onUntidy)
  }
}

const playRounds = async (
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
      // What earlier rounds have shown is told all the same.
      return { rounds, failures: [`Round ${plan.name} could not be played to its end: ${String(error)}`] }
    }
  }
  return { rounds, failures: listFailures(world, await reviewRounds(world, rounds)) }
}

/** All rounds as one, when all are over: a row of long ago may have changed since. */
const reviewRounds = async (
  world: World,
  rounds: readonly RoundResult[],
): Promise<RoundResult | undefined> => {
  const last = rounds.at(-1)
  if (last === undefined) return undefined
  const payments = rounds.flatMap((round) => round.payments)
  const answers = rounds.flatMap((round) => round.answers)
  return { ...last, payments, answers, ...(await audit(world, { payments, answers, fromBlock: 0n })) }
}

const listFailures = ({ instances }: World, result: RoundResult | undefined): readonly string[] => {
  const findLogLines = (words: readonly string[]) =>
    instances.flatMap((instance) => instance.findLogLines(words).map((line) => `${instance.name} ${line}`))
  const crashes = instances.flatMap(({ figures }) => figures().crashes)
  const isBroken = result !== undefined && result.violations.length > 0
  return [...(isBroken ? [describeViolations(result, findLogLines)] : []), ...crashes]
}

/** Every kind gets its turn as the main fault of a round; others join by chance. */
export const planRounds = (
  random: Random,
  recipients: World['recipients'],
  options: Pick<ChaosOptions, 'kinds' | 'rounds' | 'windowMs' | 'longestFaultMs' | 'paymentsPerRound'>,
): readonly PlannedRound[] => {
  const kinds: FaultKind[] = []
  while (kinds.length < options.rounds) kinds.push(...random.shuffle(options.kinds))
  return kinds.slice(0, options.rounds).map((main, index) => {
    // One of a kind: a server cannot be restarted while it is.
    const others = options.kinds.filter((kind) => kind !== main)
    const company = random.shuffle(others).slice(0, random.integer(0, 2))
    const times = { windowMs: options.windowMs, longestMs: options.longestFaultMs }
    const faults = [main, ...company].map((kind) => planFault(random, kind, times))
    return {
      name: `r${index + 1}`,
      faults,
      load: planLoad(random, recipients, {
        name: `r${index + 1}`,
        count: options.paymentsPerRound,
        windowMs: options.windowMs,
        moments: faults.map(({ atMs }) => atMs),
        // After a reorganisation one of two payments may take the money of the other, whatever anybody was told.
        hasPoorPayers: !faults.some(({ kind }) => kind === 'chain.reorganised'),
      }),
    }
  })
}
