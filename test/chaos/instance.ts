import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { type FacilitatorProcess, startFacilitator } from '../support/facilitator.js'
import { findFreePort } from '../support/freePort.js'
import { type RpcProxy, startRpcProxy } from '../support/rpcProxy.js'
import { startTcpProxy, type TcpProxy } from '../support/tcpProxy.js'
import { type ChaosDatabase, throughPort } from './database.js'

/** One instance of the service under a supervisor, with a network of its own that can be broken. */
export interface Instance {
  readonly name: string
  /** Where it is reached now; each start takes a port that is free then. */
  readonly url: string
  /** Its two nodes, of one chain. */
  readonly nodes: readonly [RpcProxy, RpcProxy]
  /** Its way to the database. */
  readonly database: TcpProxy
  /** Ends it the hard way; false when it is down already. */
  kill(): Promise<boolean>
  /** Starts it, as often as it takes; at once when it runs. */
  revive(): Promise<void>
  /** Makes its wall clock wrong by so much, also after a restart. */
  shiftClock(milliseconds: number): void
  /** What it logged that names one of these words, newest last. */
  findLogLines(words: readonly string[]): readonly string[]
  figures(): InstanceFigures
  stop(): Promise<void>
}

/** What an instance has cost and gone through so far. */
export interface InstanceFigures {
  readonly starts: number
  readonly cpuMs: number
  /** Ends that nobody asked for, with the last lines of the log. */
  readonly crashes: readonly string[]
}

/** What an instance is made of. */
export interface InstanceParts {
  readonly name: string
  readonly chainUrl: string
  readonly chainId: number
  readonly postgres: ChaosDatabase
  readonly environment: Readonly<Record<string, string>>
}

const preload = new URL('./shiftClock.ts', import.meta.url)
const keptLogLines = 5_000
const reviveDeadlineMs = 90_000

/** Starts an instance whose every connection leads through a proxy. */
export const startInstance = async (parts: InstanceParts): Promise<Instance> => {
  const { name, chainUrl, chainId } = parts
  const nodes = [await startRpcProxy(chainUrl), await startRpcProxy(chainUrl)] as const
  const database = await startTcpProxy(() => Number(new URL(parts.postgres.url).port))
  const environment = {
    ...parts.environment,
    HOST: '127.0.0.1',
    DATABASE_URL: throughPort(parts.postgres, database.port),
    KEY_ENCRYPTION_SECRET: 'instances-of-a-round-share-this-secret',
    [`EVM_RPC_URL_${chainId}`]: nodes.map(({ url }) => url).join(','),
  }

  const log: string[] = []
  const crashes: string[] = []
  let running: FacilitatorProcess | null = null
  let reviving: Promise<void> | null = null
  let url = ''
  let clockShiftMs = 0
  let starts = 0
  let cpuMsOfThePast = 0

  const remember = (line: string) => {
    if (log.push(line) > keptLogLines) log.splice(0, keptLogLines / 2)
  }
  const watch = async (facilitator: FacilitatorProcess) => {
    const code = await facilitator.ended
    if (running !== facilitator) return
    running = null
    crashes.push(`${name} ended with code ${code}; it said last:\n${log.slice(-5).join('\n')}`)
  }
  const start = async (deadline: number): Promise<void> => {
    try {
      starts += 1
      const port = String(await findFreePort())
      url = `http://127.0.0.1:${port}`
      const facilitator = await startFacilitator({ ...environment, PORT: port }, remember, { preload })
      facilitator.tell(String(clockShiftMs))
      running = facilitator
      void watch(facilitator)
    } catch (error) {
      // Without a database, for example; whoever runs services tries again.
      if (Date.now() > deadline) throw error
      await sleep(200)
      await start(deadline)
    }
  }
  const revive = async (): Promise<void> => {
    if (running !== null) return
    reviving ??= start(Date.now() + reviveDeadlineMs).finally(() => {
      reviving = null
    })
    await reviving
  }
  /** Takes the process out of service, so that its end is nobody's surprise. */
  const take = (): FacilitatorProcess | null => {
    const facilitator = running
    running = null
    if (facilitator !== null) cpuMsOfThePast += readCpuMs(facilitator.pid)
    return facilitator
  }

  await revive()
  return {
    name,
    get url() {
      return url
    },
    nodes,
    database,
    kill: async () => {
      const facilitator = take()
      await facilitator?.kill()
      return facilitator !== null
    },
    revive,
    shiftClock: (milliseconds) => {
      clockShiftMs = milliseconds
      running?.tell(String(milliseconds))
    },
    findLogLines: (words) => log.filter((line) => words.some((word) => line.includes(word))),
    figures: () => ({
      starts,
      cpuMs: cpuMsOfThePast + (running === null ? 0 : readCpuMs(running.pid)),
      crashes: [...crashes],
    }),
    stop: async () => {
      await reviving?.catch(() => undefined)
      await take()?.stop()
      await Promise.all([...nodes.map((node) => node.stop()), database.close()])
    },
  }
}

const clockTicksPerSecond = 100

/** User and system time of a process so far, where the kernel tells it. */
const readCpuMs = (pid: number): number => {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
    return ((Number(fields[11]) + Number(fields[12])) / clockTicksPerSecond) * 1_000
  } catch {
    return 0
  }
}
