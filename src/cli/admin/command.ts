import { isIP } from 'node:net'
import { parseArgs } from 'node:util'
import { createAddressBlocks } from '../../platform/addressBlocks.js'
import { ownNetworkBlocks } from '../../platform/configValues.js'
import type { SettlementState } from '../../ports/settlementJournal.js'
import { type TierName, tiers } from '../../protocol/tiers.js'

export type Command =
  | { readonly verb: 'list'; readonly isJson: boolean }
  | { readonly verb: 'set-tier'; readonly id: string; readonly tier: TierName; readonly isJson: boolean }
  | { readonly verb: 'unrestrict'; readonly id: string; readonly isJson: boolean }
  | { readonly verb: 'audit'; readonly id: string; readonly isJson: boolean }
  | { readonly verb: 'reseal'; readonly isJson: boolean }
  | { readonly verb: 'revoke'; readonly id: string; readonly isConfirmed: boolean; readonly isJson: boolean }
  | { readonly verb: 'list-settlements'; readonly filter: SettlementListing; readonly isJson: boolean }
  | { readonly verb: 'show-settlement'; readonly id: string; readonly isJson: boolean }
  | { readonly verb: 'check'; readonly isJson: boolean }
  | { readonly verb: 'config'; readonly isJson: boolean }
  | { readonly verb: 'callers'; readonly url: string | null; readonly isJson: boolean }
  | { readonly verb: 'backup'; readonly file: string; readonly isJson: boolean }
  | { readonly verb: 'restore'; readonly file: string; readonly isJson: boolean }
  | { readonly verb: 'archive'; readonly before: Date; readonly file: string; readonly isJson: boolean }
  | {
      readonly verb: 'export-consumed' | 'import-consumed' | 'export-bindings' | 'import-bindings'
      readonly file: string
      readonly isJson: boolean
    }

export interface SettlementListing {
  readonly state: SettlementState | null
  readonly network: string | null
  readonly payer: string | null
  readonly limit: number
}

const settlementStates = ['claimed', 'pending', 'confirmed', 'failed'] as const
const maxListed = 10_000

/** `command` is how it was called, such as `quittance admin`. */
export const usage = (
  command: string,
  tierNames: readonly string[] = Object.keys(tiers),
) => `Usage: ${command} <command>

  check [--json]                              configuration, database, keys, nodes, balances, clock; exit code 1 on an error
  config [--json]                             the effective configuration, without secrets
  callers [--url <url>] [--json]              who asks, is refused and occupies a running instance most; needs OPERATOR_TOKEN
  settlements list [--status <status>] [--network <network>] [--payer <address>] [--limit <n>] [--json]
                                              newest first, 50 unless --limit; ${settlementStates.join(', ')}
  settlements show <settlement> [--json]      one settlement with its transactions
  backup <file>                               every table at one moment, compressed; the service may run
  restore <file>                              fills an empty database from a backup of the same version
  archive --before <date> --to <file> [--json]
                                              moves final settlements before that day (UTC) to a compressed CSV
  consumed export <file>                      digests of the authorizations that have earned their success; often
  consumed import <file>                      adds those that a restored database lacks, so that they settle nothing again
  bindings export <file>                      whose delegated channels and holds are, and their vouchers; often
  bindings import <file>                      adds those that a restored database lacks, and changes none

  keys list [--json]                          every account, oldest first
  keys set-tier <account> <tier> [--json]     ${tierNames.join(', ')}
  keys unrestrict <account> [--json]          removes allowedIPs and allowedRef, for owners who locked themselves out
  keys audit <account> [--json]               its newest 1,000 changes: keys, webhook, restrictions, tier
  keys reseal [--json]                        after KEY_ENCRYPTION_SECRET was replaced: seals all stored secrets with it
  keys revoke <account> [--yes] [--json]      permanently invalidates its key; asks for confirmation unless --yes

<account> is the id that \`keys list\` shows, <settlement> the one that \`settlements list\` shows.
Where both real payments and a sandbox have data, SANDBOX=false or SANDBOX=true says which of them a command is for.
Exit codes: 0 done, 1 failed, 2 not understood, or no quittance data, or those of both.`

export class UsageError extends Error {
  /** For the usage; absent: those of the specification. */
  readonly tierNames: readonly string[] | undefined

  constructor(message: string, tierNames?: readonly string[]) {
    super(message)
    this.name = 'UsageError'
    this.tierNames = tierNames
  }
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Parses the arguments after `admin`. Throws `UsageError`. Tiers are read only where they are needed. */
export const readCommand = (args: readonly string[], listTiers: () => readonly TierName[]): Command => {
  const { values, positionals } = parseOptions(args)
  const [noun, ...rest] = positionals
  const { json: isJson, yes: isConfirmed, url, before, to, ...filters } = values
  if (url !== undefined && noun !== 'callers') throw new UsageError('Only `callers` takes --url.')
  const isFiltered = Object.values(filters).some((value) => value !== undefined)
  if (isFiltered && !(noun === 'settlements' && rest[0] === 'list')) {
    throw new UsageError('Only `settlements list` takes filters.')
  }
  if ((before !== undefined || to !== undefined) && noun !== 'archive') {
    throw new UsageError('Only `archive` takes --before and --to.')
  }
  switch (noun) {
    case 'keys':
      return readKeysCommand(rest, { isJson, isConfirmed, listTiers })
    case 'settlements':
      return readSettlementsCommand(rest, { ...filters, isJson })
    case 'callers':
      expectCount(rest, 0)
      return { verb: noun, url: readUrl(url), isJson }
    case 'check':
    case 'config':
      expectCount(rest, 0)
      return { verb: noun, isJson }
    case 'backup':
    case 'restore': {
      expectCount(rest, 1)
      return { verb: noun, file: rest[0] ?? '', isJson }
    }
    case 'archive':
      expectCount(rest, 0)
      return { verb: noun, before: readDay(before), file: readFile(to), isJson }
    case 'consumed':
    case 'bindings':
      return readTransferCommand(noun, rest, isJson)
    default:
      throw new UsageError(
        'Unknown command: the first word must be keys, settlements, callers, check, config, backup, restore, archive, consumed or bindings.',
      )
  }
}

const readTransferCommand = (
  noun: 'consumed' | 'bindings',
  [verb, ...rest]: readonly string[],
  isJson: boolean,
): Command => {
  if (verb !== 'export' && verb !== 'import') {
    throw new UsageError(`The commands are ${noun} export and ${noun} import.`)
  }
  expectCount(rest, 1)
  return { verb: `${verb}-${noun}`, file: rest[0] ?? '', isJson }
}

interface Filters {
  readonly status?: string | undefined
  readonly network?: string | undefined
  readonly payer?: string | undefined
  readonly limit?: string | undefined
}

const readSettlementsCommand = (
  [verb, ...rest]: readonly string[],
  { isJson, ...filters }: Filters & { readonly isJson: boolean },
): Command => {
  switch (verb) {
    case 'list':
      expectCount(rest, 0)
      return { verb: 'list-settlements', filter: readFilter(filters), isJson }
    case 'show':
      expectCount(rest, 1)
      if (!uuid.test(rest[0] ?? '')) throw new UsageError('A settlement must be given by its id.')
      return { verb: 'show-settlement', id: rest[0] ?? '', isJson }
    default:
      throw new UsageError('The commands are settlements list and settlements show.')
  }
}

const readFilter = ({ status, network, payer, limit = '50' }: Filters): SettlementListing => {
  const state = settlementStates.find((each) => each === status)
  if (status !== undefined && state === undefined) {
    throw new UsageError(`The statuses are ${settlementStates.join(', ')}.`)
  }
  const count = /^\d{1,5}$/.test(limit) ? Number(limit) : 0
  if (count < 1 || count > maxListed) throw new UsageError(`--limit must be 1 to ${maxListed}.`)
  return { state: state ?? null, network: network ?? null, payer: payer ?? null, limit: count }
}

const readKeysCommand = (
  [verb, ...rest]: readonly string[],
  {
    isJson,
    isConfirmed,
    listTiers,
  }: {
    readonly isJson: boolean
    readonly isConfirmed: boolean
    readonly listTiers: () => readonly TierName[]
  },
): Command => {
  switch (verb) {
    case 'list':
      expectCount(rest, 0)
      return { verb, isJson }
    case 'set-tier':
      expectCount(rest, 2)
      return { verb, id: readId(rest[0]), tier: readTier(rest[1], listTiers()), isJson }
    case 'unrestrict':
      expectCount(rest, 1)
      return { verb, id: readId(rest[0]), isJson }
    case 'audit':
      expectCount(rest, 1)
      return { verb, id: readId(rest[0]), isJson }
    case 'reseal':
      expectCount(rest, 0)
      return { verb, isJson }
    case 'revoke':
      expectCount(rest, 1)
      return { verb, id: readId(rest[0]), isConfirmed, isJson }
    default:
      throw new UsageError('The commands are list, set-tier, unrestrict, audit, reseal and revoke.')
  }
}

const flags = [
  ...['--json', '--yes', '--status', '--network', '--payer', '--limit', '--url'],
  ...['--before', '--to'],
]

const parseOptions = (args: readonly string[]) => {
  const unknown = args.find((word) => word.startsWith('-') && !flags.includes(word.split('=')[0] ?? ''))
  if (unknown !== undefined) {
    const name = (unknown.split('=')[0] ?? '').replaceAll(/\p{C}/gu, '').slice(0, 60)
    throw new UsageError(`Unknown option '${name}'.`)
  }
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        json: { type: 'boolean', default: false },
        yes: { type: 'boolean', default: false },
        status: { type: 'string' },
        network: { type: 'string' },
        payer: { type: 'string' },
        limit: { type: 'string' },
        url: { type: 'string' },
        before: { type: 'string' },
        to: { type: 'string' },
      },
    })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : 'The options cannot be parsed.')
  }
}

const readUrl = (text: string | undefined): string | null => {
  if (text === undefined) return null
  const protocol = URL.canParse(text) ? new URL(text).protocol : ''
  if (protocol !== 'http:' && protocol !== 'https:') {
    throw new UsageError('--url must be the address of an instance, such as http://localhost:8080.')
  }
  if (protocol === 'http:' && !isNear(new URL(text).hostname)) {
    throw new UsageError(
      '--url must be https beyond this machine and its network: the request carries OPERATOR_TOKEN.',
    )
  }
  return text
}

const privateNames = /\.(?:localhost|local|internal|lan)$/

const isNear = (hostname: string): boolean => {
  const address = hostname.replace(/^\[|\]$/g, '')
  if (isIP(address) === 0) return !hostname.includes('.') || privateNames.test(hostname)
  return createAddressBlocks().include([...ownNetworkBlocks.loopback, ...ownNetworkBlocks.private], address)
}

const readDay = (text = ''): Date => {
  const day = new Date(`${text}T00:00:00Z`)
  // `2026-02-31` would be a day of March.
  if (Number.isNaN(day.getTime()) || day.toISOString().slice(0, 10) !== text) {
    throw new UsageError('--before must be a day, such as 2026-01-31.')
  }
  return day
}

const readFile = (text = ''): string => {
  if (text === '') throw new UsageError('--to must name a file, such as settlements-2026-01-31.csv.gz.')
  return text
}

const expectCount = (args: readonly string[], count: number): void => {
  if (args.length !== count) throw new UsageError(`This command takes ${count} arguments.`)
}

const readId = (text = ''): string => {
  if (!uuid.test(text)) throw new UsageError('An account must be given by its id, as shown by `keys list`.')
  return text
}

const readTier = (text: string | undefined, tierNames: readonly TierName[]): TierName => {
  if (text !== undefined && tierNames.includes(text)) return text
  throw new UsageError(`The tiers are ${tierNames.join(', ')}.`, tierNames)
}
