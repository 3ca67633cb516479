import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type LocalChain, startLocalChain } from '../test/support/evm/localChain.js'
import { exactPayment } from '../test/support/evm/payment.js'
import { createEoa } from '../test/support/evm/wallets.js'
import { findFreePort } from '../test/support/freePort.js'
import { type LoadResult, runLoad } from './load.js'

/*
 * Quittance beside the protocol's reference facilitator, on one chain, in one run, each payload used once. Both
 * are processes of their own; figures of one machine compare, the ratio is what travels.
 */

const verifyConnections = [1, 16, 64] as const
const verifiesPerRun = 600
const settleConnections = [1, 8, 32, 128] as const
/** Few enough that the reference, which settles some ten a second, ends within a minute or so. */
const settlesPerRun = { 1: 10, 8: 40, 32: 96, 128: 256 } as const

interface Contender {
  readonly name: string
  readonly url: string
  readonly process: ChildProcess
}

const root = fileURLToPath(new URL('..', import.meta.url))

const run = async (): Promise<void> => {
  const chain = await startLocalChain({ facilitatorCount: 2 })
  const dataFolder = await mkdtemp(join(tmpdir(), 'quittance-bench-'))
  const contenders: Contender[] = []
  try {
    contenders.push(await startOurs(chain, dataFolder), await startReference(chain))
    console.log('\nverify: distinct valid payloads of EOA payers, automined local chain')
    console.log(row('connections', 'facilitator', 'req/s', 'p50 ms', 'p99 ms', 'CPU ms/req', 'failures'))
    for (const connections of verifyConnections) await compareVerify(chain, contenders, connections)
    console.log('\nsettle: distinct valid payloads, each settled once, automined local chain')
    console.log(row('connections', 'facilitator', 'settled/s', 'p50 ms', 'p99 ms', 'failed', 'CPU ms/req'))
    for (const connections of settleConnections) await compareSettle(chain, contenders, connections)
    console.log(`\nmemory, idle after the run: ${contenders.map(describeMemory).join(', ')}`)
  } finally {
    for (const { process } of contenders) {
      process.kill('SIGTERM')
      await once(process, 'exit')
    }
    await chain.stop()
    await rm(dataFolder, { recursive: true, force: true })
  }
}

const compareVerify = async (
  chain: LocalChain,
  contenders: readonly Contender[],
  connections: number,
): Promise<void> => {
  const rates: number[] = []
  for (const contender of contenders) {
    const bodies = await signPayments(chain, verifiesPerRun)
    // Code paths warm up on payloads of their own.
    await runLoad(`${contender.url}/verify`, await signPayments(chain, 50), connections, isValid)
    const cpuBefore = readCpuMs(contender)
    const result = await runLoad(`${contender.url}/verify`, bodies, connections, isValid)
    const cpuPerRequest = (readCpuMs(contender) - cpuBefore) / bodies.length
    rates.push(result.perSecond)
    console.log(describe(connections, contender.name, result, cpuPerRequest))
  }
  const [ours = 0, reference = 1] = rates
  console.log(row(String(connections), 'ratio', `${(ours / reference).toFixed(1)} ×`, '', '', '', ''))
}

const compareSettle = async (
  chain: LocalChain,
  contenders: readonly Contender[],
  connections: (typeof settleConnections)[number],
): Promise<void> => {
  const rates: number[] = []
  for (const contender of contenders) {
    const bodies = await signPayments(chain, settlesPerRun[connections])
    const cpuBefore = readCpuMs(contender)
    const result = await runLoad(`${contender.url}/settle`, bodies, connections, isSettled)
    const cpuPerRequest = (readCpuMs(contender) - cpuBefore) / bodies.length
    const settledPerSecond = result.perSecond * (1 - result.failures / bodies.length)
    rates.push(settledPerSecond)
    console.log(
      row(
        String(connections),
        contender.name,
        settledPerSecond.toFixed(1),
        result.p50Ms.toFixed(0),
        result.p99Ms.toFixed(0),
        `${((100 * result.failures) / bodies.length).toFixed(0)} %`,
        cpuPerRequest.toFixed(1),
      ),
    )
  }
  const [ours = 0, reference = 1] = rates
  console.log(row(String(connections), 'ratio', `${(ours / reference).toFixed(1)} ×`, '', '', '', ''))
}

const isSettled = (answer: string): boolean => answer.includes('"success":true')

const isValid = (answer: string): boolean => answer.includes('"isValid":true')

const signPayments = async (chain: LocalChain, count: number): Promise<readonly string[]> => {
  const wallets = Array.from({ length: count }, () => createEoa())
  await chain.mint(
    wallets.map(({ address }) => address),
    1_000_000n,
  )
  const bodies = await Promise.all(wallets.map((wallet) => exactPayment({ chain, wallet, amount: 1_000n })))
  return bodies.map((body) => JSON.stringify(body))
}

const startOurs = async (chain: LocalChain, dataFolder: string): Promise<Contender> => {
  const port = await findFreePort()
  return await launch('quittance', port, [join(root, 'dist/main.js')], {
    PORT: String(port),
    HOST: '127.0.0.1',
    LOG_LEVEL: 'warn',
    DATA_FOLDER: dataFolder,
    EVM_PRIVATE_KEY: chain.facilitators[0]?.privateKey ?? '',
    EVM_RPC_URL_84532: chain.url,
    SETTLES_PER_RECIPIENT_PER_HOUR: '0',
  })
}

const startReference = async (chain: LocalChain): Promise<Contender> => {
  const port = await findFreePort()
  const key = chain.facilitators[1]?.privateKey ?? ''
  const entry = join(root, 'bench/reference.ts')
  return await launch('reference', port, ['--import', 'tsx', entry, chain.url, key, String(port)], {})
}

const launch = async (
  name: string,
  port: number,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<Contender> => {
  const child = spawn(process.execPath, [...args], {
    cwd: root,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, NODE_ENV: 'production', ...environment },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  process.once('exit', () => child.kill('SIGKILL'))
  const url = `http://127.0.0.1:${port}`
  for (let attempt = 0; attempt < 400; attempt++) {
    if (child.exitCode !== null) break
    const isUp = await fetch(`${url}/health`).then(
      (response) => response.ok,
      () => false,
    )
    if (isUp) return { name, url, process: child }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`${name} did not start`)
}

const clockTicksPerSecond = 100

/** User and system time of the process so far, from the kernel. */
const readCpuMs = ({ process: { pid } }: Contender): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return ((Number(fields[11]) + Number(fields[12])) / clockTicksPerSecond) * 1_000
}

const describeMemory = ({ name, process: { pid } }: Contender): string => {
  const resident = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '0'
  return `${name} ${Math.round(Number(resident) / 1_024)} MiB RSS`
}

const describe = (connections: number, name: string, result: LoadResult, cpuMs: number): string =>
  row(
    String(connections),
    name,
    result.perSecond.toFixed(0),
    result.p50Ms.toFixed(1),
    result.p99Ms.toFixed(1),
    cpuMs.toFixed(2),
    String(result.failures),
  )

const row = (...cells: readonly string[]): string => cells.map((cell) => cell.padEnd(13)).join('')

await run()
