import { parseArgs } from 'node:util'
import { type TierName, tiers } from '../protocol/tiers.js'

export type Command =
  | { readonly verb: 'list'; readonly isJson: boolean }
  | { readonly verb: 'set-tier'; readonly id: string; readonly tier: TierName; readonly isJson: boolean }
  | { readonly verb: 'unrestrict'; readonly id: string; readonly isJson: boolean }
  | { readonly verb: 'audit'; readonly id: string; readonly isJson: boolean }
  | { readonly verb: 'reseal'; readonly isJson: boolean }
  | { readonly verb: 'revoke'; readonly id: string; readonly isConfirmed: boolean; readonly isJson: boolean }

export const usage = `Usage: npm run admin -- keys <command>

  keys list [--json]                          every account, oldest first
  keys set-tier <account> <tier> [--json]     ${Object.keys(tiers).join(', ')}
  keys unrestrict <account> [--json]          removes allowedIPs and allowedRef, for owners who locked themselves out
  keys audit <account> [--json]               its newest 1,000 changes: keys, webhook, restrictions, tier
  keys reseal [--json]                        after KEY_ENCRYPTION_SECRET was replaced: seals all stored secrets with it
  keys revoke <account> [--yes] [--json]      permanently invalidates its key; asks for confirmation unless --yes

<account> is the id that \`keys list\` shows.`

export class UsageError extends Error {
  constructor(message: string) {
    super(`${message}\n\n${usage}`)
    this.name = 'UsageError'
  }
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Parses the arguments after `admin`. Throws `UsageError`. */
export const readCommand = (args: readonly string[]): Command => {
  const { values, positionals } = parseOptions(args)
  const { json: isJson, yes: isConfirmed } = values
  const [noun, verb, ...rest] = positionals
  if (noun !== 'keys') throw new UsageError('Unknown command: the first word must be keys.')
  switch (verb) {
    case 'list':
      expectCount(rest, 0)
      return { verb, isJson }
    case 'set-tier':
      expectCount(rest, 2)
      return { verb, id: readId(rest[0]), tier: readTier(rest[1]), isJson }
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

const parseOptions = (args: readonly string[]) => {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { json: { type: 'boolean', default: false }, yes: { type: 'boolean', default: false } },
    })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : 'The options cannot be parsed.')
  }
}

const expectCount = (args: readonly string[], count: number): void => {
  if (args.length !== count) throw new UsageError(`This command takes ${count} arguments.`)
}

const readId = (text = ''): string => {
  if (!uuid.test(text)) throw new UsageError('An account must be given by its id, as shown by `keys list`.')
  return text
}

const readTier = (text = ''): TierName => {
  if (!isTier(text)) throw new UsageError(`The tiers are ${Object.keys(tiers).join(', ')}.`)
  return text
}

const isTier = (text: string): text is TierName => Object.hasOwn(tiers, text)
