import { parseArgs } from 'node:util'
import { showHelp } from '../test/support/showHelp.js'

export const parts = [
  'verify',
  'verify-slow',
  'settle',
  'settle-blocks',
  'instances',
  'workers',
  'upto',
  'vouchers',
  'schemes',
  'gas',
  'limits',
  'quota',
  'growth',
  'upgrade',
  'outage',
  'solana',
  'tron',
  'ton',
  'families',
  'discovery',
  'streams',
  'credit',
  'hostile',
  'traces',
] as const

export type Part = (typeof parts)[number]

export type Scale = number

export interface Options {
  readonly chosen: readonly Part[]
  readonly scale: Scale
  /** Names of attacks, for `hostile`; empty: all. */
  readonly attacks: readonly string[]
}

const quickScale = 0.2

const usage = `Usage: npm run bench [-- option] [part …]

Builds the service and measures it against the reference facilitator on the same chain. Without parts: all, which takes
hours.

  --only <part>     one part; may be repeated
  --quick           a fifth of the work
  --attack <name>   one attack of the part hostile; may be repeated
  -h, --help        shows this text

Parts: ${parts.join(', ')}`

/**
 * Parses the command line: part names or `--only <part>`, none for all, `--quick`, and `--attack <name>`, which alone means
 * the part `hostile`.
 */
export const readOptions = (args: readonly string[]): Options => {
  showHelp(usage)
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      only: { type: 'string', multiple: true },
      attack: { type: 'string', multiple: true },
      quick: { type: 'boolean', default: false },
    },
  })
  const { only = [], attack: attacks = [], quick } = values
  const given = [...positionals, ...only]
  const named = given.length === 0 && attacks.length > 0 ? ['hostile'] : given
  const unknown = named.filter((name) => !parts.some((part) => part === name))
  if (unknown.length > 0)
    throw new Error(`no such part: ${unknown.join(', ')}; there are ${parts.join(', ')}`)
  const chosen = named.length === 0 ? parts : parts.filter((part) => named.includes(part))
  return { chosen, scale: quick ? quickScale : 1, attacks }
}
