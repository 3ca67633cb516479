import { join } from 'node:path'
import { base58 } from '@scure/base'
import type { Keypair } from '@solana/web3.js'
import { reservePort } from '../test/support/reservePort.js'
import { type LocalSolana, startLocalSolana } from '../test/support/solana/localChain.js'
import { createParties, solanaPayment } from '../test/support/solana/payment.js'
import { startService } from './contenders.js'
import { countFailureReasons } from './countFailureReasons.js'
import { type Contender, launch, root } from './launch.js'
import { type Measurement, measureLoad } from './measureLoad.js'
import type { Scale } from './options.js'
import { describeConnections, facilitatorColumn, figure, printTable, times, toColumns } from './table.js'
import { noFailures, type Verdict } from './verdict.js'

const amount = 1_000n
const rowMs = 6_000
const warmUps = 8

/** The reference settles few per second, so it gets fewer payments. */
interface Row {
  readonly path: '/verify' | '/settle'
  readonly connections: number
  readonly ours: number
  readonly reference: number
}

const rows: readonly Row[] = [
  { path: '/verify', connections: 1, ours: 600, reference: 300 },
  { path: '/verify', connections: 32, ours: 1_500, reference: 800 },
  { path: '/settle', connections: 1, ours: 100, reference: 20 },
  { path: '/settle', connections: 32, ours: 800, reference: 200 },
]

const captions = [
  'Payments of SPL Token with a memo, each sent once, on a cluster in this process with immediate blocks. The',
  'reference is the facilitator of @x402/svm. Settle responses are compared with the balance of the recipient.',
] as const

export const measureSolana = async (scale: Scale): Promise<readonly Verdict[]> => {
  const started: { stop(): Promise<void> }[] = []
  const keep = <Part extends { stop(): Promise<void> }>(part: Part): Part => {
    started.push(part)
    return part
  }
  try {
    const chain = keep(await startLocalSolana({ feePayerCount: 2 }))
    const [first, second] = chain.feePayers
    if (first === undefined || second === undefined) throw new Error('keys are missing')
    const ours = { contender: keep(await startOurs(chain, first)), feePayer: first }
    const reference = { contender: keep(await startReference(chain, second)), feePayer: second }
    for (const each of [ours, reference]) {
      await measure(chain, each, { path: '/settle', connections: 2, count: warmUps })
    }
    return await measureRows(chain, { ours, reference, scale })
  } finally {
    for (const part of started.reverse()) await part.stop()
  }
}

interface Runner {
  readonly contender: Contender
  readonly feePayer: Keypair
}

const measureRows = async (
  chain: LocalSolana,
  { ours, reference, scale }: { readonly ours: Runner; readonly reference: Runner; readonly scale: Scale },
): Promise<readonly Verdict[]> => {
  const table = printTable('Solana', captions.join('\n'), [
    ...toColumns('path', 'connections'),
    facilitatorColumn,
    ...toColumns('success', 'per second', 'p50 ms', 'p99 ms', 'CPU ms/req', 'sent'),
  ])
  const verdicts: Verdict[] = []
  for (const { path, connections, ...counts } of rows) {
    const run = async (runner: Runner, most: number): Promise<Measurement> => {
      const count = Math.max(connections, Math.ceil(most * scale))
      const { measurement, mismatches } = await measure(chain, runner, { path, connections, count })
      table.row(
        ...[path, String(connections), runner.contender.name],
        ...[`${figure((100 * measurement.successes) / measurement.sent)} %`, figure(measurement.perSecond)],
        ...[figure(measurement.p50Ms), figure(measurement.p99Ms), figure(measurement.cpuMsPerRequest)],
        String(measurement.sent),
      )
      for (const mismatch of mismatches) console.log(`!!! ${runner.contender.name}: ${mismatch} !!!`)
      if (runner === ours) {
        const name = `Solana ${path} at ${describeConnections(connections)}`
        verdicts.push(noFailures(name, measurement, mismatches))
      }
      return measurement
    }
    const us = await run(ours, counts.ours)
    const them = await run(reference, counts.reference)
    table.row(path, String(connections), 'ratio', '', times(us.perSecond, them.perSecond))
  }
  return verdicts
}

interface SolanaLoad extends Pick<Row, 'path' | 'connections'> {
  readonly count: number
}

const measure = async (
  chain: LocalSolana,
  { contender, feePayer }: Runner,
  { path, connections, count }: SolanaLoad,
): Promise<{ readonly measurement: Measurement; readonly mismatches: readonly string[] }> => {
  const { payer, payTo } = createParties(chain, amount * BigInt(count))
  const bodies = Array.from({ length: count }, () =>
    JSON.stringify(solanaPayment({ chain, payer, payTo, amount, feePayer })),
  )
  const measurement = await measureLoad(contender, { path, bodies, connections, limitMs: rowMs })
  const received = chain.holdingOf(payTo)
  const expected = path === '/settle' ? BigInt(measurement.successes) * amount : 0n
  const mismatches = received === expected ? [] : [`the recipient received ${received}, expected ${expected}`]
  const reasons = path === '/settle' ? countFailureReasons(measurement.exchanges) : []
  return { measurement, mismatches: [...mismatches, ...reasons] }
}

const startOurs = (chain: LocalSolana, { secretKey }: Keypair): Promise<Contender> =>
  startService({
    SOLANA_PRIVATE_KEY: base58.encode(secretKey),
    SOLANA_RPC_URL_mainnet: chain.url,
    // Blocks are immediate here; the reference polls about as often.
    SOLANA_POLL_INTERVAL_MS_mainnet: '50',
    SETTLES_AT_ONCE_PER_PAYER: '0',
    SOLANA_FEE_BUDGET_LAMPORTS_PER_HOUR_mainnet: '1000000000000',
  })

const startReference = async (chain: LocalSolana, { secretKey }: Keypair): Promise<Contender> => {
  const port = await reservePort()
  const key = Buffer.from(secretKey).toString('base64')
  const args = [join(root, 'bench/solanaReference.ts'), chain.url, key, String(port), chain.network]
  return await launch({
    name: 'reference',
    port,
    args: ['--import', 'tsx', ...args],
    readyPath: '/health',
    environment: {},
  })
}
