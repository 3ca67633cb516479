import type { ListedTerms } from '../../ports/discovery.js'
import { canonicalAsset, foldAddress } from '../../protocol/assetId.js'
import { type Fields, fieldsOf, isFields } from '../../protocol/fields.js'
import { canonicalNetwork } from '../../protocol/network.js'
import { measureJson } from './bounds.js'
import { findTemplateProblem, findUrlProblem, type ResourceKey, toResourceKey } from './resourceUrl.js'

/** Whom a resource asks to be paid. */
interface Recipient {
  /** CAIP-2 identifier. */
  readonly network: string
  /** In one spelling. */
  readonly payTo: string
}

/** An answer to an unpaid request. */
export interface UnpaidAnswer {
  readonly status: number
  /** Header PAYMENT-REQUIRED. */
  readonly paymentRequired: string | null
  /** Null: not read. */
  readonly body: string | null
}

export type ReadRecipients =
  | {
      readonly recipients: readonly Recipient[]
      /** Those with all that a listing shows of its terms. */
      readonly offers: readonly ListedTerms[]
      /** What it says of the resource, in the form of a 402 answer. */
      readonly said: Fields
      readonly problem: null
    }
  /** What was seen instead, as a sentence. */
  | { readonly recipients: null; readonly problem: string }

const maxAccepts = 64
const maxLength = 128
const maxOffers = 32
/** In characters of JSON; a longer `extra` is not listed. */
export const maxExtraLength = 4_096
const maxExtraNodes = 500
const maxExtraDepth = 16

/** Version 2: the header, or the body; version 1: the body. */
export const readRecipients = ({ status, paymentRequired, body }: UnpaidAnswer): ReadRecipients => {
  if (status !== 402) return failed(`The resource answered with status ${status}, not 402.`)
  const header = paymentRequired === null ? null : Buffer.from(paymentRequired, 'base64').toString('utf8')
  const said = parseAccepts(header) ?? parseAccepts(body)
  if (said === null) {
    const unread = body === null ? ' Its body is compressed, larger than 64 kB, or did not end in 5 s.' : ''
    return failed(
      `The 402 answer of the resource has no \`accepts\`, neither in PAYMENT-REQUIRED nor in its body.${unread}`,
    )
  }
  return (
    readAccepts(said) ?? failed('No `accepts` of the 402 answer of the resource has `network` and `payTo`.')
  )
}

/** Returns null if it names no recipient. */
const readAccepts = (said: Fields): ReadRecipients | null => {
  const accepts: readonly unknown[] = Array.isArray(said.accepts) ? said.accepts.slice(0, maxAccepts) : []
  const recipients = accepts.flatMap(readRecipient)
  if (recipients.length === 0) return null
  return { recipients, offers: accepts.flatMap(readOffer).slice(0, maxOffers), said, problem: null }
}

const failed = (problem: string): ReadRecipients => ({ recipients: null, problem })

const parseAccepts = (text: string | null): Fields | null => {
  const required = text === null ? null : parseFields(text)
  return required !== null && Array.isArray(required.accepts) ? required : null
}

/** Returns null if the text is no JSON object. */
const parseFields = (text: string): Fields | null => {
  try {
    const value: unknown = JSON.parse(text)
    return isFields(value) ? value : null
  } catch {
    return null
  }
}

const readRecipient = (terms: unknown): readonly Recipient[] => {
  if (!isFields(terms)) return []
  const { network, payTo } = terms
  if (!isShortText(network) || !isShortText(payTo)) return []
  return [{ network: canonicalNetwork(network), payTo: foldAddress(payTo) }]
}

const readOffer = (terms: unknown): readonly ListedTerms[] => {
  if (!isFields(terms)) return []
  const { scheme, network: given, asset, payTo, maxTimeoutSeconds } = terms
  // Version 1 has `maxAmountRequired`.
  const amount = terms.amount ?? terms.maxAmountRequired
  if (![scheme, given, asset, payTo].every(isShortText)) return []
  if (typeof amount !== 'string' || !/^[0-9]{1,78}$/.test(amount)) return []
  if (typeof maxTimeoutSeconds !== 'number' || !Number.isInteger(maxTimeoutSeconds)) return []
  const extra = isFields(terms.extra) ? terms.extra : {}
  const network = canonicalNetwork(String(given))
  return [
    {
      scheme: String(scheme),
      network,
      asset: canonicalAsset(network, String(asset)),
      payTo: String(payTo),
      amount,
      maxTimeoutSeconds,
      extra: isSmall(extra) ? extra : {},
    },
  ]
}

/** `JSON.stringify` recurses: depth is bounded before. */
const isSmall = (extra: Fields): boolean => {
  const { nodes, depth } = measureJson(extra, maxExtraNodes)
  if (nodes > maxExtraNodes || depth > maxExtraDepth) return false
  return JSON.stringify(extra).length <= maxExtraLength
}

const isShortText = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= maxLength

/*
 * What a host says of its resources, for those that cannot say it themselves: route templates, MCP tools, and resources
 * that answer no GET. Only who controls the whole host writes below `/.well-known` (RFC 8615). The form is that of the
 * answers of `/discovery/resources`, as proposed for x402 (x402-foundation/x402, issue 2582); `accepts` beside `items`
 * holds for every resource that has no item.
 */

const statementPath = '/.well-known/x402.json'
const maxItems = 1_000

export const statementUrlOf = ({ url }: Pick<ResourceKey, 'url'>): string => new URL(statementPath, url).href

/** Returns what the host says of the resource with this key. */
export const readStatement = (
  { status, body }: Pick<UnpaidAnswer, 'status' | 'body'>,
  key: ResourceKey,
): ReadRecipients => {
  if (status !== 200) return failed(`Its host answered ${statementPath} with status ${status}, not 200.`)
  const statement = body === null ? null : parseFields(body)
  if (statement === null) {
    return failed(`${statementPath} of its host is no JSON object of at most 64 kB, read in 5 s.`)
  }
  const item = listItems(statement).find((each) => hasKey(each, key))
  return (
    readAccepts(item ?? { accepts: statement.accepts }) ??
    failed(`${statementPath} of its host names no recipient for the resource.`)
  )
}

/** In the form of 402 answers, where `resource` is an object. */
const listItems = ({ items, resources }: Fields): readonly Fields[] =>
  [items, resources]
    .flatMap((list: unknown): readonly unknown[] => (Array.isArray(list) ? list : []))
    .slice(0, maxItems)
    .filter(isFields)
    .map((item) => ({
      ...item,
      resource: isFields(item.resource) ? item.resource : { ...item, url: item.resource ?? item.url },
    }))

const hasKey = ({ resource, extensions }: Fields, key: ResourceKey): boolean => {
  const url = isFields(resource) ? resource.url : null
  if (typeof url !== 'string' || findUrlProblem(url) !== null) return false
  const { info, routeTemplate } = fieldsOf(fieldsOf(extensions).bazaar)
  const { type, toolName } = fieldsOf(fieldsOf(info).input)
  const isTool = type === 'mcp' && typeof toolName === 'string'
  const isTemplate =
    !isTool && typeof routeTemplate === 'string' && findTemplateProblem(routeTemplate) === null
  const found = toResourceKey(url, {
    routeTemplate: isTemplate ? routeTemplate : null,
    toolName: isTool ? toolName : '',
  })
  return found.url === key.url && found.toolName === key.toolName
}
