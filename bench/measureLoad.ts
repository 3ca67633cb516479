import type { Contender } from './launch.js'
import { readCpuMs } from './readUsage.js'
import { type Exchange, runLoad } from './runLoad.js'
import { type LoadSummary, summarizeLoad } from './summarizeLoad.js'

/** What a contender did with a load. */
export interface Measurement extends LoadSummary {
  /** Of the facilitator's own process, for each request that was sent. */
  readonly cpuMsPerRequest: number
  readonly exchanges: readonly Exchange[]
}

/** A load for one contender. */
export interface ContenderLoad {
  readonly path: '/verify' | '/settle'
  readonly bodies: readonly string[]
  readonly connections: number
  readonly limitMs: number
}

/** Sends a load to a contender and measures both ends. */
export const measureLoad = async (
  { url, pid }: Contender,
  { path, ...load }: ContenderLoad,
): Promise<Measurement> => {
  const cpuBefore = readCpuMs(pid)
  const exchanges = await runLoad({ url: `${url}${path}`, ...load })
  const cpuMs = readCpuMs(pid) - cpuBefore
  const summary = summarizeLoad(exchanges, path === '/verify' ? isValid : isSettled)
  return { ...summary, cpuMsPerRequest: cpuMs / exchanges.length, exchanges }
}

/** Whether an answer of `/verify` says that the payment is good. */
export const isValid = (answer: string): boolean => answer.includes('"isValid":true')

/** Whether an answer of `/settle` says that the money moved. */
export const isSettled = (answer: string): boolean => answer.includes('"success":true')

/** Whether an answer of `/settle` leaves the payment's fate open, which is no failure of the money. */
export const isPending = (answer: string): boolean => answer.includes('"settlement_pending"')
