import { showHelp } from '../support/showHelp.js'
import { faultKinds, isFaultKind } from './faults.js'
import { describeRound, describeRun } from './report.js'

const usage = `Usage: npm run test:chaos

Pays through instances that are killed, on a chain that reorganizes, and compares every payment with the chain.

  CHAOS_SEED           repeats the schedule of a run, which prints its seed
  CHAOS_ROUNDS         how many rounds (default 100)
  CHAOS_FAULTS         kinds of faults, comma separated: ${faultKinds.join(', ')} (default all)
  CHAOS_REORG_BLOCKS   depth of the deepest reorg (default 3)`

const readNumber = (name: string, otherwise: number): number => {
  const value = Number(process.env[name] || otherwise)
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`${name} must be a whole number`)
  return value
}

const readKinds = () => {
  const named = (process.env.CHAOS_FAULTS ?? '').split(',').filter((kind) => kind !== '')
  const known = named.filter(isFaultKind)
  if (known.length < named.length) throw new Error('CHAOS_FAULTS contains an unknown kind')
  return known.length > 0 ? known : faultKinds
}

const run = async (): Promise<void> => {
  // Loaded here, so that --help need not.
  const { runChaos } = await import('./run.js')
  const seed = readNumber('CHAOS_SEED', Date.now() % 1_000_000)
  const rounds = readNumber('CHAOS_ROUNDS', 100)
  const stopped = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      console.log(`${signal}: ends after this round`)
      stopped.abort()
    })
  }
  console.log(`CHAOS_SEED=${seed} CHAOS_ROUNDS=${rounds}`)
  const result = await runChaos({
    seed,
    rounds,
    paymentsPerRound: 40,
    windowMs: 4_000,
    longestFaultMs: 4_000,
    deepestReorg: readNumber('CHAOS_REORG_BLOCKS', 3),
    closeMs: 180_000,
    kinds: readKinds(),
    onRound: (round) => console.log(describeRound(round)),
    onStopFailure: (error) => console.log(error),
    stopped: stopped.signal,
  })
  if (result.failure !== null) console.log(`\n${result.failure}`)
  console.log(`\n${describeRun(result)}`)
  // Hanging connections must not keep the process alive.
  process.stdout.write('', () => process.exit(result.failure === null ? 0 : 1))
}

showHelp(usage)
await run()
