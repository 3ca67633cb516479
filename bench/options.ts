import { parseArgs } from 'node:util'

export const parts = [
  'verify',
  'verify-slow',
  'settle',
  'settle-blocks',
  'upto',
  'gas',
  'limits',
  'quota',
  'growth',
  'outage',
  'solana',
  'tron',
  'ton',
  'families',
  'discovery',
  'streams',
  'credit',
] as const

export type Part = (typeof parts)[number]

export type Scale = number

export interface Options {
  readonly chosen: readonly Part[]
  readonly scale: Scale
}

const quickScale = 0.2

/** Parses the command line: part names or `--only <part>`, none for all, and `--quick`. */
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
