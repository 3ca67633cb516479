import type { Contender } from './launch.js'
import { readCpuMs } from './readUsage.js'
import { type Exchange, runLoad } from './runLoad.js'
import { type LoadSummary, summarizeLoad } from './summarizeLoad.js'

export interface Measurement extends LoadSummary {
  readonly cpuMsPerRequest: number
  readonly exchanges: readonly Exchange[]
}

export interface ContenderLoad {
  readonly path: '/verify' | '/settle'
  readonly bodies: readonly string[]
  readonly connections: number
  readonly limitMs: number
}

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

export const isValid = (answer: string): boolean => answer.includes('"isValid":true')

export const isSettled = (answer: string): boolean => answer.includes('"success":true')

export const isPending = (answer: string): boolean => answer.includes('"settlement_pending"')
