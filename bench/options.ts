import { parseArgs } from 'node:util'

/** The parts of a run, in their order. */
export const parts = [
  'verify',
  'verify-slow',
  'settle',
  'settle-blocks',
  'gas',
  'limits',
  'quota',
  'outage',
  'solana',
  'tron',
  'ton',
] as const

/** A part of a run. */
export type Part = (typeof parts)[number]

/** What share of its usual time each measurement takes; 1 unless the run is to be quick. */
export type Scale = number

/** What the command line asks for. */
export interface Options {
  readonly chosen: readonly Part[]
  readonly scale: Scale
}

const quickScale = 0.2

/** Reads the command line: parts by their names or by `--only <part>`, none for all, and `--quick`. */
export const readOptions = (args: readonly string[]): Options => {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { only: { type: 'string', multiple: true }, quick: { type: 'boolean', default: false } },
  })
  const named = [...positionals, ...(values.only ?? [])]
  const unknown = named.filter((name) => !parts.some((part) => part === name))
  if (unknown.length > 0)
    throw new Error(`no such part: ${unknown.join(', ')}; there are ${parts.join(', ')}`)
  const chosen = named.length === 0 ? parts : parts.filter((part) => named.includes(part))
  return { chosen, scale: values.quick ? quickScale : 1 }
}
