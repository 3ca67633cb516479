import { execFileSync } from 'node:child_process'
import { cpus, loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { type Options, type Part, readOptions, type Scale } from './options.js'
import type { Verdict } from './verdict.js'

/*
 * quittance against the reference facilitator: same chain, same run, one process and key each. Ratios are
 * comparable, figures are not.
 */

type Measure = (scale: Scale, options: Options) => Promise<readonly Verdict[]>

/** Each loads what it needs, which takes seconds for all of them. */
const measurements: Readonly<Record<Part, () => Promise<Measure>>> = {
  verify: async () => (await import('./measureVerify.js')).measureVerify,
  'verify-slow': async () => (await import('./measureSlowVerify.js')).measureSlowVerify,
  settle: async () => {
    const { measureSettle } = await import('./measureSettle.js')
    return (scale) => measureSettle('automine', scale)
  },
  'settle-blocks': async () => {
    const { measureSettle } = await import('./measureSettle.js')
    return (scale) => measureSettle('1 s blocks', scale)
  },
  instances: async () => (await import('./measureInstances.js')).measureInstances,
  workers: async () => (await import('./measureWorkers.js')).measureWorkers,
  upto: async () => (await import('./measureUpto.js')).measureUpto,
  vouchers: async () => (await import('./measureVouchers.js')).measureVouchers,
  schemes: async () => (await import('./measureSchemes.js')).measureSchemes,
  gas: async () => (await import('./measureGas.js')).measureGas,
  limits: async () => (await import('./measureLimits.js')).measureLimits,
  quota: async () => (await import('./measureQuota.js')).measureQuota,
  growth: async () => (await import('./measureGrowth.js')).measureGrowth,
  outage: async () => (await import('./measureOutage.js')).measureOutage,
  solana: async () => (await import('./measureSolana.js')).measureSolana,
  tron: async () => (await import('./measureTron.js')).measureTron,
  ton: async () => (await import('./measureTon.js')).measureTon,
  families: async () => (await import('./measureFamilies.js')).measureFamilies,
  discovery: async () => (await import('./measureDiscovery.js')).measureDiscovery,
  streams: async () => (await import('./measureStreams.js')).measureStreams,
  credit: async () => (await import('./measureCredit.js')).measureCredit,
  hostile: async () => (await import('./measureHostile.js')).measureHostile,
  traces: async () => (await import('./measureTraces.js')).measureTraces,
  upgrade: async () => (await import('./measureUpgrade.js')).measureUpgrade,
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1))

const options = readOptions(process.argv.slice(2))
const { chosen, scale } = options
execFileSync(process.execPath, [fileURLToPath(new URL('../scripts/build.mjs', import.meta.url))], {
  stdio: 'inherit',
})
const verdicts: Verdict[] = []
const [load = 0] = loadavg()
console.log(`${cpus().length} processors, load ${load.toFixed(1)} before the run, Node ${process.version}`)
for (const part of chosen) {
  const measure = await measurements[part]()
  verdicts.push(...(await measure(scale, options)))
}

console.log('\n## Targets\n')
for (const { text, isMet } of verdicts) console.log(`- ${isMet ? 'met    ' : 'NOT MET'} ${text}`)
