import { execFileSync } from 'node:child_process'
import { cpus, loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { measureCredit } from './measureCredit.js'
import { measureDiscovery } from './measureDiscovery.js'
import { measureFamilies } from './measureFamilies.js'
import { measureGas } from './measureGas.js'
import { measureGrowth } from './measureGrowth.js'
import { measureHostile } from './measureHostile.js'
import { measureLimits } from './measureLimits.js'
import { measureOutage } from './measureOutage.js'
import { measureQuota } from './measureQuota.js'
import { measureSettle } from './measureSettle.js'
import { measureSlowVerify } from './measureSlowVerify.js'
import { measureSolana } from './measureSolana.js'
import { measureStreams } from './measureStreams.js'
import { measureTon } from './measureTon.js'
import { measureTraces } from './measureTraces.js'
import { measureTron } from './measureTron.js'
import { measureUpto } from './measureUpto.js'
import { measureVerify } from './measureVerify.js'
import { type Options, type Part, readOptions, type Scale } from './options.js'
import type { Verdict } from './verdict.js'

/*
 * quittance against the reference facilitator: same chain, same run, one process and key each. Ratios are
 * comparable, figures are not.
 */

const measurements: Readonly<Record<Part, (scale: Scale, options: Options) => Promise<readonly Verdict[]>>> =
  {
    verify: measureVerify,
    'verify-slow': measureSlowVerify,
    settle: (scale) => measureSettle('automine', scale),
    'settle-blocks': (scale) => measureSettle('1 s blocks', scale),
    upto: measureUpto,
    gas: measureGas,
    limits: measureLimits,
    quota: measureQuota,
    growth: measureGrowth,
    outage: measureOutage,
    solana: measureSolana,
    tron: measureTron,
    ton: measureTon,
    families: measureFamilies,
    discovery: measureDiscovery,
    streams: measureStreams,
    credit: measureCredit,
    hostile: measureHostile,
    traces: measureTraces,
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
for (const part of chosen) verdicts.push(...(await measurements[part](scale, options)))

console.log('\n## Targets\n')
for (const { text, isMet } of verdicts) console.log(`- ${isMet ? 'met    ' : 'NOT MET'} ${text}`)
