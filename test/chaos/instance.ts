import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { type FacilitatorProcess, startFacilitator } from '../support/facilitator.js'
import { type RpcProxy, startRpcProxy } from '../support/rpcProxy.js'
import { overTcp, startTcpProxy, type TcpProxy } from '../support/tcpProxy.js'
import type { ChaosDatabase } from './database.js'

export interface Instance {
  readonly name: string
  /** Changes on each start. */
  readonly url: string
  readonly nodes: readonly [RpcProxy, RpcProxy]
  readonly database: TcpProxy
  /** SIGKILL; false if it is not running. */
  kill(): Promise<boolean>
  /** Starts it with retries unless it is running. */
  ensureRunning(): Promise<void>
  /** Offsets its wall clock, also after a restart. */
  shiftClock(milliseconds: number): void
  findLogLines(words: readonly string[]): readonly string[]
  readStats(): InstanceStats
  stop(): Promise<void>
}

interface InstanceStats {
  readonly starts: number
  readonly cpuMs: number
  /** Unexpected exits, with the last lines of the log. */
  readonly crashes: readonly string[]
}

interface InstanceOptions {
  readonly name: string
  readonly chainUrl: string
  readonly chainId: number
  readonly postgres: ChaosDatabase
  readonly environment: Readonly<Record<string, string>>
}

const preload = new URL('./shiftClock.ts', import.meta.url)
const keptLogLines = 5_000
const startDeadlineMs = 90_000

export const startInstance = async (parts: InstanceOptions): Promise<Instance> => {
  const { name, chainUrl, chainId } = parts
  const nodes = [await startRpcProxy(chainUrl), await startRpcProxy(chainUrl)] as const
  const database = await startTcpProxy(() => Number(new URL(parts.postgres.url).port))
  const environment = {
    ...parts.environment,
    HOST: '127.0.0.1',
    DATABASE_URL: overTcp(parts.postgres.url, database.port),
    KEY_ENCRYPTION_SECRET: 'instances-of-a-round-share-this-secret',
    [`EVM_RPC_URL_${chainId}`]: nodes.map(({ url }) => url).join(','),
  }

  const log: string[] = []
  const crashes: string[] = []
  let running: FacilitatorProcess | null = null
  let starting: Promise<void> | null = null
  let url = ''
  let clockShiftMs = 0
  let starts = 0
  let previousCpuMs = 0

  const remember = (line: string) => {
    if (log.push(line) > keptLogLines) log.splice(0, keptLogLines / 2)
  }
  const watch = async (facilitator: FacilitatorProcess) => {
    const code = await facilitator.ended
    if (running !== facilitator) return
    running = null
    crashes.push(`${name} ended with code ${code}; last log lines:\n${log.slice(-5).join('\n')}`)
  }
  const start = async (deadline: number): Promise<void> => {
    try {
      starts += 1
      const facilitator = await startFacilitator({ ...environment, PORT: '0' }, remember, { preload })
      url = facilitator.url
      facilitator.sendMessage(String(clockShiftMs))
      running = facilitator
      void watch(facilitator)
    } catch (error) {
      // For example without a database: retry like a supervisor.
      if (Date.now() > deadline) throw error
      await sleep(200)
      await start(deadline)
    }
  }
  const ensureRunning = async (): Promise<void> => {
    if (running !== null) return
    starting ??= start(Date.now() + startDeadlineMs).finally(() => {
      starting = null
    })
    await starting
  }
  const detach = (): FacilitatorProcess | null => {
    const facilitator = running
    running = null
    if (facilitator !== null) previousCpuMs += readCpuMs(facilitator.pid)
    return facilitator
  }

  await ensureRunning()
  return {
    name,
    get url() {
      return url
    },
    nodes,
    database,
    kill: async () => {
      const facilitator = detach()
      await facilitator?.kill()
      return facilitator !== null
    },
    ensureRunning,
    shiftClock: (milliseconds) => {
      clockShiftMs = milliseconds
      running?.sendMessage(String(milliseconds))
    },
    findLogLines: (words) => log.filter((line) => words.some((word) => line.includes(word))),
    readStats: () => ({
      starts,
      cpuMs: previousCpuMs + (running === null ? 0 : readCpuMs(running.pid)),
      crashes: [...crashes],
    }),
    stop: async () => {
      await starting?.catch(() => undefined)
      await detach()?.stop()
      await Promise.all([...nodes.map((node) => node.stop()), database.close()])
    },
  }
}

const clockTicksPerSecond = 100

/** User and system time from /proc; 0 if unavailable. */
const readCpuMs = (pid: number): number => {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
    return ((Number(fields[11]) + Number(fields[12])) / clockTicksPerSecond) * 1_000
  } catch {
    return 0
  }
}
